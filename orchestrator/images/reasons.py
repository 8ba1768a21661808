"""The one line of a failed build that matters to the person who reads it."""

import re
from collections.abc import Iterable, Sequence

_NETWORK = (
    (re.compile(r"ProxyError|Tunnel connection failed"),
     "the proxy does not answer or does not let it through; see build.proxy"),
    (re.compile(r"CERTIFICATE_VERIFY_FAILED|certificate verify failed", re.IGNORECASE),
     "its certificate is not trusted; set build.ca_bundle (or PIP_CERT)"),
    (re.compile(r"Name or service not known|Temporary failure in name resolution|No address associated"),
     "its name is not known to the resolver"),
    (re.compile(r"Connection refused"), "it refuses connections"),
    (re.compile(r"Network is unreachable|No route to host"), "there is no route to it"),
    (re.compile(r"timed out|Timeout", re.IGNORECASE), "it does not answer in time"),
)  # fmt: skip
_REFUSED = re.compile(r"\b(401|403) (Client )?Error|\b(401|403) +(Unauthorized|Forbidden)|User for .+:\s*$")
_URL = re.compile(r"https?://[^\s'\"\\)]+")
_BROKEN = ("Retrying (", "Could not fetch URL", "Failed to fetch", "Err:")
_NOT_REACHED = " cannot be reached: "
_NO_ENTRY = "refuses the credentials"
_VERSIONS = re.compile(r" \(from versions: none\)$")
_FULL = re.compile(r"(.*(?:no space left on device|enough free space|disk quota exceeded).*)", re.IGNORECASE)
_TELLING = (
    _FULL,
    re.compile(r"^ERROR: (Could not find a version .*|Cannot install .*|.*requires a different Python.*)"),
    re.compile(r"^(?:ERROR: )?(No matching distribution found .*)"),
    re.compile(r"^(E: .*)"),
    re.compile(r"^(ERROR: .*)"),
    re.compile(r"^(\w*Error: .*)"),
)


def telling_line(lines: Sequence[str], engine_message: str) -> str:
    """Return the reason a build failed, in one line, from its output and the engine's message.

    A connection that failed outranks the missing package that pip makes of it; without a telling line the engine's
    own message stands.
    """
    said = [line.strip() for line in lines if line.strip()]
    cause = _network_cause(said)
    if cause and cause.endswith(_NO_ENTRY):
        return _shortened(cause)
    for pattern in _TELLING:
        matches = [match for match in (pattern.search(line) for line in said) if match]
        if matches:
            line = matches[0].group(1)
            return _shortened(f"{_VERSIONS.sub('', line)}: {cause}" if cause else line)
    return _shortened(cause or engine_message)


def is_full(lines: Iterable[str]) -> bool:
    """Return true if any line of a log names a full disk."""
    return any(_FULL.search(line) for line in lines)


def is_of_surroundings(reason: str) -> bool:
    """Return true if a line names a full disk or an unreachable host, which are no faults of what is built."""
    return bool(_FULL.search(reason)) or _NOT_REACHED in reason or reason.endswith(_NO_ENTRY)


def _network_cause(said: Sequence[str]) -> str | None:
    """Return the first connection that failed with the name of its host, or None."""
    index = "https://pypi.org/simple"
    for line in said:
        if line.startswith("Looking in indexes:"):
            index = line.removeprefix("Looking in indexes:").strip()
        url = _URL.search(line)
        if _REFUSED.search(line):
            return f"{url.group(0) if url else index} {_NO_ENTRY}"
        if any(sign in line for sign in _BROKEN):
            for pattern, meaning in _NETWORK:
                if pattern.search(line):
                    name = url.group(0).rstrip(":") if url else index
                    return f"{name}{_NOT_REACHED}{meaning}; a folder in build.find_links can stand in for it"
    return None


def _shortened(text: str, limit: int = 400) -> str:
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    # The versions that pip lists fill pages; the newest ones stand last, and the requirement first.
    return f"{line[: limit // 2].rstrip()} … {line[-limit // 2 :].lstrip()}"
