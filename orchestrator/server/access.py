"""The right to read: the names that this server answers to, and the token that it asks for."""

import hashlib
import hmac
import ipaddress
import re
from dataclasses import dataclass

SHORTEST_TOKEN = 16
_PORT = re.compile(r":[0-9]{1,5}\Z")
_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True, slots=True)
class Access:
    """The rules of one server."""

    address: str
    """The address that it listens at."""
    port: int
    token: str = ""
    """An empty one lets everybody read who reaches a loopback address."""

    @property
    def cookie(self) -> str:
        """Return the name of the cookie: a browser sends the cookies of a host to all its ports."""
        return f"orchestrator-{self.port}"

    @property
    def cookie_value(self) -> str:
        """Return what stands in the cookie in place of the token."""
        return hmac.new(self.token.encode(), b"cookie", hashlib.sha256).hexdigest()

    def has_token(self, given: str) -> bool:
        """Return true for the token of this server. The time that it takes tells nothing of it."""
        return bool(self.token) and hmac.compare_digest(given.encode(), self.token.encode())

    def has_cookie(self, given: str) -> bool:
        """Return true for the cookie that the token was exchanged for."""
        return bool(self.token) and hmac.compare_digest(given.encode(), self.cookie_value.encode())

    def answers_to(self, host: str) -> bool:
        """Return true if a request may name this host.

        Without a token, a page from elsewhere whose name leads to this machine could read what it likes.
        """
        if self.token:
            return True
        name = _PORT.sub("", host.lower()).removesuffix(".")
        return name in _LOCAL_NAMES or name in {self.address.lower(), f"[{self.address.lower()}]"}


def is_loopback(address: str) -> bool:
    """Return true for an address that only this machine reaches."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
