"""Addresses: where the page is found, and who may open it; open doors are refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from samekind.errors import ServerError

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
"""Addresses that only this machine can reach."""
MAX_NAME = 64
"""Characters that the name of a person may have."""


@dataclass(frozen=True)
class Addresses:
    """The addresses that are printed.

    Parameters
    ----------
    root : the address of the page. token : the secret in it; None: there is none.
    people : the token of each person, instead of one for all.
    """

    root: str
    token: str | None = field(default=None, repr=False)
    people: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def first(self) -> str:
        """The address for the browser of whoever starts the server."""
        token = next(iter(self.people.values()), self.token)
        return f"{self.root}?token={token}" if token else self.root

    def announcements(self, what: str) -> Iterator[str]:
        """Sentences with the addresses; `what` says what the server does."""
        where = self.root if self.people else self.first
        yield f"samekind {what} at {where} (stop with Ctrl-C)"
        for person, token in self.people.items():
            yield f"For {person}: {self.root}?token={token}"


def check_open(host: str, *, token: bool, public_url: str | None = None) -> None:
    """Refuse to let everybody on a network in."""
    if not token and (host not in LOCAL_HOSTS or public_url):
        raise ServerError(
            f"Without a token everybody who can reach {public_url or host} could see the items and "
            "answer. Omit --no-token, or serve this machine only."
        )
    address = urlsplit(public_url or "https://localhost")
    if address.scheme not in ("http", "https") or not address.netloc or address.path.strip("/"):
        raise ServerError(
            "Expected the address of a reverse proxy such as https://sort.example.org, got "
            f"{public_url!r}. It needs a host name of its own: a path is not supported."
        )


def check_people(people: Sequence[str], *, token: bool) -> tuple[str, ...]:
    """Return the names of people, or refuse names that cannot be told apart."""
    names = tuple(" ".join(name.split()) for name in people)
    if names and not token:
        raise ServerError("People are known by their tokens. Omit --no-token.")
    wrong = [name for name in names if not 0 < len(name) <= MAX_NAME or not name.isprintable()]
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if wrong or twice:
        raise ServerError(
            f"Expected different names of 1 to {MAX_NAME} characters, separated by commas, such as "
            f"--people anna,ben, got {(wrong or twice)[0]!r}."
        )
    return names
