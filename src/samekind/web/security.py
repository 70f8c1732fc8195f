"""Guard: only the page that the server itself delivered, and programs on this machine, get in.

A web page on the internet can make a browser send requests to ``localhost``. Three checks keep
such pages out: the Host header must be one of our names (a foreign name re-bound to 127.0.0.1 is
not), the browser must say that the request comes from our own page (Origin and Sec-Fetch-Site),
and requests that change something must be JSON, which a foreign form cannot send.

Other users of the same machine can reach its ports, too. Therefore the printed address contains a
token, which the browser keeps as a cookie after the first visit. Requests without it are refused.
If several people answer, each has an address with a token of their own, by which they are known.
"""

from __future__ import annotations

import base64
import hmac
import logging
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from samekind.web.errors import ApiError, error_response, internal_error
from samekind.web.phone import is_denied

log = logging.getLogger("samekind.web")

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MAX_BODY_BYTES = 64 * 1024
MAX_TABLE_BYTES = 8 * 1024 * 1024
"""Size of a table of labels, which is sent to begin a grouping from."""
LARGE_BODIES = {"/api/orientations/from": MAX_TABLE_BYTES}
"""Paths that accept larger bodies than all others."""
MAX_PIECE_BYTES = 4 * 1024 * 1024
"""Bytes of a file that was dropped into the page, with one request."""
TOKEN_FILE = "page-token"
TOKEN = re.compile(r"[A-Za-z0-9_-]{32,}")
PERSON = "samekind.person"
"""Where the scope of a request keeps the name of the person whose token it carries."""
PHONE = "samekind.phone"
"""Where the scope of a request keeps whether it carries the token of a phone."""
CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
CSP = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}


class Guard:
    """The outermost layer: checks each request, limits its body, and sets security headers.

    Parameters
    ----------
    hosts : host names of the server.
    port : the port that the Host header must name; None accepts any.
    token : the secret that every request must carry: in the address, as a cookie, or as a bearer
        token in the Authorization header. None: no secret.
    people : the tokens of people by name, instead of one token for all.
    public_url : the address of a reverse proxy that people open instead; None: there is none.
    phone : a token for phones, which must not open or write files; None: there is none.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Sequence[str],
        port: int | None,
        token: str | None = None,
        people: Mapping[str, str] | None = None,
        public_url: str | None = None,
        phone: str | None = None,
    ) -> None:
        self.app = app
        self.port = port
        self.tokens: dict[str, str | None] = {} if token is None else {token: None}
        if people:
            self.tokens = {own: name for name, own in people.items()}
        self.phone = phone
        if phone is not None:
            self.tokens[phone] = None
        public = urlsplit(public_url or "")
        self.public_host = public.netloc.lower()
        self.public_origin = f"{public.scheme}://{public.netloc}".lower()
        self.cookie = f"samekind-{port or 0}"  # browsers share cookies between all ports of a host
        self.hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, in_address = False, ""

        async def send_safely(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
                if in_address:
                    value = f"{self.cookie}={in_address}; HttpOnly; SameSite=Strict; Path=/"
                    secure = self._is_public(scope) and self.public_origin.startswith("https:")
                    headers.append("Set-Cookie", value + ("; Secure" if secure else ""))
            await send(message)

        try:
            self.check_origin(scope)
            in_address = self.check_token(scope)
            if scope["method"] in CHANGING:
                small = LARGE_BODIES.get(scope["path"], MAX_BODY_BYTES)
                limit = MAX_PIECE_BYTES if is_piece(scope) else small
                receive = await read_body(receive, limit)
            await self.app(scope, receive, send_safely)
        except ApiError as error:
            await _refusal(scope, error)(scope, receive, send_safely)
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            if not started:
                await internal_error()(scope, receive, send_safely)

    def check_origin(self, scope: Scope) -> None:
        """Refuse foreign host names, requests of foreign pages, and bodies that are not JSON."""
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        if not self._is_known(host):
            raise ApiError(
                403,
                "foreign-host",
                f"This server does not serve the host name {host[:100]!r}.",
                f"Open it as http://127.0.0.1:{self.port or 'PORT'}.",
            )
        changing = scope["method"] in CHANGING
        if scope["path"].startswith("/api/") or changing:
            site = headers.get("sec-fetch-site")
            if site is not None and site not in ("same-origin", "none"):
                raise _foreign_page(f"Sec-Fetch-Site: {site[:40]}")
        origin = headers.get("origin")
        own = self.public_origin if self._is_public(scope) else f"http://{host}"
        if changing and origin is not None and origin.lower() != own:
            raise _foreign_page(f"Origin: {origin[:100]}")
        if scope["method"] in ("POST", "PUT", "PATCH"):
            kind = headers.get("content-type", "").split(";")[0].strip().lower()
            if kind != ("application/octet-stream" if is_piece(scope) else "application/json"):
                raise ApiError(
                    415,
                    "not-json",
                    f"Expected a JSON body, got content type {kind[:100]!r}.",
                    "Send the header Content-Type: application/json (the body may be {}).",
                )

    def check_token(self, scope: Scope) -> str:
        """Refuse requests without a token, and note whose it is; return it if in the address."""
        if not self.tokens:
            return ""
        shown = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        headers = Headers(scope=scope)
        kept = (value for line in headers.getlist("cookie") for value in cookies(line, self.cookie))
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        for given in (*shown, *kept, bearer if kind.lower() == "bearer" else ""):
            for token, person in self.tokens.items():
                if is_same(given, token):
                    self._check_phone(scope, token)
                    scope[PERSON] = person
                    scope[PHONE] = token == self.phone
                    return token if given in shown else ""
        raise ApiError(
            403,
            "no-token",
            "Only someone with the printed address, which contains a token, can use this server.",
            "Open the complete address that samekind printed in its terminal, including ?token=... "
            "at its end.",
        )

    def _check_phone(self, scope: Scope, token: str) -> None:
        if self.phone and token == self.phone and is_denied(scope["method"], scope["path"]):
            raise ApiError(
                403,
                "not-on-a-phone",
                "A phone cannot open or write files of the computer.",
                "Do it on the computer; everything else works here.",
            )

    def _is_public(self, scope: Scope) -> bool:
        """Whether the request came to the address of the reverse proxy."""
        return bool(self.public_host) and Headers(scope=scope).get("host", "").lower() == (
            self.public_host
        )

    def _is_known(self, host: str) -> bool:
        if host and host == self.public_host:
            return True
        name, colon, port = host.rpartition(":")
        if not colon or host.endswith("]"):
            name, port = host, "80"
        return name in self.hosts and (self.port is None or port == str(self.port))


def _refusal(scope: Scope, error: ApiError) -> Response:
    """Respond with JSON, or with plain text to a person who opened a page without the token."""
    if scope["path"].startswith("/api/") or error.type != "no-token":
        return error_response(error.status, error.type, error.message, error.what_to_do)
    return PlainTextResponse(f"{error.message}\n\n{error.what_to_do}\n", error.status)


def _foreign_page(what: str) -> ApiError:
    return ApiError(
        403,
        "foreign-page",
        f"Another page tried to use this server ({what}).",
        "Open the address that samekind printed, and answer there.",
    )


def is_piece(scope: Scope) -> bool:
    """Whether a request carries a piece of a file; no foreign form can send one."""
    return scope["method"] == "PUT" and str(scope["path"]).startswith("/api/uploads/")


async def read_body(receive: Receive, limit: int = MAX_BODY_BYTES) -> Receive:
    """Read the whole body, at most `limit` bytes, and pass it on as one message."""
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return receive
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > limit:
            raise ApiError(
                413,
                "too-large",
                f"Expected a request body of at most {limit:,} bytes, got more.",
                "Send one answer per request.",
            )
    passed_on = False

    async def replay() -> Message:
        nonlocal passed_on
        if passed_on:
            return await receive()
        passed_on = True
        return {"type": "http.request", "body": bytes(body), "more_body": False}

    return replay


def load_token(folder: Path | None = None) -> str:
    """Return the user's token; it survives restarts, so that open pages keep working.

    It is kept in a file that only this user may read. If that is impossible, the token is valid
    for this run only.

    Parameters
    ----------
    folder : where it is kept; None: beside the ledgers.
    """
    if folder is None:
        from samekind.workspace.locations import data_folder

        folder = data_folder()
    file = folder / TOKEN_FILE
    new = secrets.token_urlsafe(24)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            stream.write(new)
        return new
    except FileExistsError:
        return _read_token(file) or new
    except OSError:
        return new


def person_tokens(secret: str, names: Sequence[str]) -> dict[str, str]:
    """The token of each person, derived from the user's own.

    All servers of this user know the same ones, and nothing more has to be stored.
    """
    tokens = {}
    for name in names:
        digest = hmac.digest(secret.encode(), f"samekind person\0{name}".encode(), "sha256")
        tokens[name] = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    return tokens


def cookies(header: str, name: str) -> Iterator[str]:
    """Yield the values of a cookie; there may be several, for several paths.

    The header also has the cookies of all other programs of this machine, which may be malformed:
    Python's own parser gives up at those, and takes quadratic time for quoted ones.
    """
    for part in header.split(";"):
        key, _, value = part.partition("=")
        if key.strip() == name:
            yield value.strip()


def is_same(shown: str, token: str) -> bool:
    """Compare in constant time, which reveals nothing about the token."""
    return secrets.compare_digest(shown.encode(errors="replace"), token.encode())


def _read_token(file: Path) -> str | None:
    """Read the token of an earlier run, unless others could have read or written it."""
    try:
        status = file.stat()
        foreign = hasattr(os, "getuid") and status.st_uid != os.getuid()
        if os.name == "posix" and (foreign or status.st_mode & 0o077):
            return None
        token = file.read_text().strip()
    except (OSError, ValueError):
        return None
    return token if TOKEN.fullmatch(token) else None
