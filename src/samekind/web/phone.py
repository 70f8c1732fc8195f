"""A phone on the same network: its address, its own token, and the code that it scans."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address

from samekind.errors import ServerError

DENIED = ("/api/start", "/api/uploads")
"""Addresses that show or name files of the computer: not for a phone."""
DENIED_CHANGES = ("/api/finish",)
"""Addresses that a phone may read but not write to: exports are written to the computer's disk."""
BORDER = 2
BLOCKS = {(True, True): " ", (True, False): "▄", (False, True): "▀", (False, False): "█"}
"""Two dots of the code, one above the other, as a character; dark dots stay empty."""


@dataclass(frozen=True)
class Phone:
    """How a phone reaches the page.

    Parameters
    ----------
    host : the address of this machine on its local network.
    token : valid for phones, and until the server stops.
    """

    host: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @classmethod
    def on_network(cls) -> Phone:
        """Find the address of this machine on its local network."""
        return cls(local_address())

    def address(self, port: int) -> str:
        """The address to open on the phone."""
        return f"http://{self.host}:{port}/?token={self.token}"

    def announcements(self, port: int) -> Iterator[str]:
        """What is printed: the code, the address, and what it means to open it."""
        address = self.address(port)
        yield from drawn(address)
        yield f"Scan the code with a phone in the same network, or open {address}"
        yield (
            "Whoever has this address can see the items and answer until you stop samekind with "
            "Ctrl-C. They cannot open or write files of this computer. The connection is not "
            "encrypted, so use it only in a network that you trust."
        )


def local_address() -> str:
    """The address by which other devices of the local network reach this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address of nobody; nothing is sent
            found = str(probe.getsockname()[0])
        except OSError as problem:
            raise ServerError(
                "This computer is in no network that a phone could be in. Connect both to the same "
                "one, or omit --phone."
            ) from problem
    if not ip_address(found).is_private or ip_address(found).is_loopback:
        raise ServerError(
            f"The address of this computer, {found}, is not one of a local network. Omit --phone: "
            "strangers could reach it."
        )
    return found


def drawn(text: str) -> Iterator[str]:
    """Draw a text as a QR code, two rows of dots per line, light on dark as terminals are."""
    import segno

    matrix = [list(map(bool, row)) for row in segno.make(text, error="l", micro=False).matrix]
    width = len(matrix) + 2 * BORDER
    edge = [[False] * width for _ in range(BORDER)]
    side = [False] * BORDER
    rows = [*edge, *([*side, *row, *side] for row in matrix), *edge]
    if len(rows) % 2:
        rows.append([False] * width)
    for upper, lower in zip(rows[::2], rows[1::2], strict=True):
        yield "".join(BLOCKS[pair] for pair in zip(upper, lower, strict=True))


def is_denied(method: str, path: str) -> bool:
    """Whether a request of a phone is about files of the computer."""
    return path.startswith(DENIED) or (method != "GET" and path.startswith(DENIED_CHANGES))
