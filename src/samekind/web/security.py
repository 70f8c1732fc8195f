"""Who may talk to the server: the page that it served itself, and programs on this machine.

A web page on the internet can make a browser send requests to ``localhost``. Three checks keep
such pages out: the Host header must be a name of ours (a foreign name that was re-bound to
127.0.0.1 is not), a browser must say that the request comes from our own page (Origin and
Sec-Fetch-Site), and what changes something must be JSON, which a foreign form cannot send.

Other people who use the same machine can reach its ports too. So the address that is printed holds
a token, which the browser keeps as a cookie from the first visit on. Who has neither is refused.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from http.cookies import SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from samekind.web.errors import ApiError, our_fault, reply
from samekind.web.tokens import is_same

log = logging.getLogger("samekind.web")

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
BODY_LIMIT = 64 * 1024
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
    """The outermost layer: checks each request, limits its body, and sets the safe headers.

    Parameters
    ----------
    hosts : host names under which the server may be addressed.
    port : the port that must stand in the Host header; None lets any through.
    token : what every request must show: in the address, as a cookie, or as a bearer token in the
        header Authorization. None: nothing of the kind.
    """

    def __init__(
        self, app: ASGIApp, hosts: Sequence[str], port: int | None, token: str | None = None
    ) -> None:
        self.app = app
        self.port = port
        self.token = token
        self.cookie = f"samekind-{port or 0}"  # browsers share cookies between all ports of a host
        self.hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = brought = False

        async def send_safely(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
                if brought:
                    value = f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
                    headers.append("Set-Cookie", value)
            await send(message)

        try:
            self.refusal(scope)
            brought = self._shows_token(scope)
            if scope["method"] in CHANGING:
                receive = await limited(receive)
            await self.app(scope, receive, send_safely)
        except ApiError as fault:
            answer = _worded(scope, fault)
            await answer(scope, receive, send_safely)
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            if not started:
                await our_fault()(scope, receive, send_safely)

    def refusal(self, scope: Scope) -> None:
        """Raise :class:`Refusal` unless the request may be served."""
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        if not self._is_ours(host):
            raise ApiError(
                403,
                "foreign-host",
                f"This server does not answer to the host name {host[:100]!r}.",
                f"Open it as http://127.0.0.1:{self.port or 'PORT'}.",
            )
        changing = scope["method"] in CHANGING
        if scope["path"].startswith("/api/") or changing:
            site = headers.get("sec-fetch-site")
            if site is not None and site not in ("same-origin", "none"):
                raise _foreign_page(f"Sec-Fetch-Site: {site[:40]}")
        origin = headers.get("origin")
        if changing and origin is not None and origin.lower() != f"http://{host}":
            raise _foreign_page(f"Origin: {origin[:100]}")
        if scope["method"] in ("POST", "PUT", "PATCH"):
            kind = headers.get("content-type", "").split(";")[0].strip().lower()
            if kind != "application/json":
                raise ApiError(
                    415,
                    "not-json",
                    f"{scope['method']} takes JSON; the content type was {kind[:100]!r}.",
                    "Send the header Content-Type: application/json (the body may be {}).",
                )

    def _shows_token(self, scope: Scope) -> bool:
        """Whether the address holds the token; :class:`Refusal` if it is nowhere."""
        if self.token is None:
            return False
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if any(is_same(one, self.token) for one in asked):
            return True
        headers = Headers(scope=scope)
        cookies = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except Exception:  # what is not a cookie shows nothing
            cookies.clear()
        kept = cookies[self.cookie].value if self.cookie in cookies else ""
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        if is_same(kept, self.token) or (kind.lower() == "bearer" and is_same(bearer, self.token)):
            return False
        raise ApiError(
            403,
            "no-token",
            "This server answers only to those who have its address with the token.",
            "Open the whole address that samekind printed in its terminal, with ?token=... at the "
            "end.",
        )

    def _is_ours(self, host: str) -> bool:
        name, colon, port = host.rpartition(":")
        if not colon or host.endswith("]"):
            name, port = host, "80"
        return name in self.hosts and (self.port is None or port == str(self.port))


def _worded(scope: Scope, fault: ApiError) -> Response:
    """A refusal for a program, or in plain words for a person who opened a page."""
    if scope["path"].startswith("/api/") or fault.type != "no-token":
        return reply(fault.status, fault.type, fault.message, fault.what_to_do)
    return PlainTextResponse(f"{fault.message}\n\n{fault.what_to_do}\n", fault.status)


def _foreign_page(what: str) -> ApiError:
    return ApiError(
        403,
        "foreign-page",
        f"Another page tried to use this server ({what}).",
        "Open the address that samekind printed and answer there.",
    )


async def limited(receive: Receive) -> Receive:
    """Read the whole body, at most `BODY_LIMIT` bytes, and hand it on as one message."""
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return receive
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > BODY_LIMIT:
            raise ApiError(
                413,
                "too-large",
                f"The request body is larger than {BODY_LIMIT} bytes.",
                "Send one answer per request.",
            )
    handed = False

    async def replay() -> Message:
        nonlocal handed
        if handed:
            return await receive()
        handed = True
        return {"type": "http.request", "body": bytes(body), "more_body": False}

    return replay
