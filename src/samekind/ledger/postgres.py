"""PostgreSQL addresses: parse them, and show them without their password."""

from __future__ import annotations

from urllib.parse import quote, quote_plus

import sqlalchemy as sa

from samekind.errors import InputError, MissingExtra

_SECRET_OPTIONS = ("password", "sslpassword")


def open_postgres(address: str) -> tuple[tuple[str, ...], sa.URL]:
    """The secrets in an address, and the address for psycopg 3.

    Accepts ``postgresql://`` and ``postgres://``, also with the name of a driver, which is ignored.
    """
    try:
        url = sa.make_url(address)
    except (sa.exc.ArgumentError, ValueError):
        raise InputError(
            "Expected the address of a database such as postgresql://user:password@host:5432/name. "
            "Write the characters @ : / in a password as %40 %3A %2F."
        ) from None
    kind = url.drivername.split("+")[0]
    if kind not in ("postgresql", "postgres"):
        raise InputError(
            f"Expected a file or postgresql://user@host/name for the ledger, got {kind!r}."
        )
    if "@" in (url.host or ""):
        raise InputError(
            "The password in the address of the database has an @ in it. Write it as %40."
        )
    try:
        import psycopg  # noqa: F401
    except ImportError as missing:
        raise MissingExtra("A ledger in PostgreSQL", "postgres") from missing
    return _secrets(url), url.set(drivername="postgresql+psycopg")


def describe_url(url: sa.URL) -> str:
    """The address without secrets, safe to show to anybody."""
    port = f":{url.port}" if url.port else ""
    user = f"{url.username}@" if url.username else ""
    return f"postgresql://{user}{url.host or ''}{port}/{url.database or ''}"


def without_secrets(words: str, secrets: tuple[str, ...]) -> str:
    """The text with every form of a password replaced by stars."""
    for secret in sorted(secrets, key=len, reverse=True):
        words = words.replace(secret, "***")
    return words


def _secrets(url: sa.URL) -> tuple[str, ...]:
    found = {str(url.password)} if url.password else set()
    for option in _SECRET_OPTIONS:
        value = url.query.get(option, ())
        found.update((value,) if isinstance(value, str) else value)
    return tuple({form for s in found if s for form in (s, quote(s, safe=""), quote_plus(s))})
