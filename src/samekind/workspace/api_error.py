"""Refusal: a request that is turned down in words. Importable without the web packages."""

from __future__ import annotations


class ApiError(Exception):
    """A request that is turned down, with its status and the words for the person."""

    def __init__(self, status: int, type: str, message: str, what_to_do: str | None = None) -> None:
        super().__init__(message)
        self.status, self.type, self.message = status, type, message
        self.what_to_do = what_to_do
