"""Errors of registries, told apart by what engines say of them."""

import re
from typing import ClassVar

from orchestrator.engine.images import one_line
from orchestrator.errors import HostError

_MOST_CHARACTERS = 300


class RegistryError(HostError):
    """A registry that does not do what it is asked for."""

    said: ClassVar[tuple[str, ...]] = ()
    """Patterns, one of which is in the engine's message."""
    problem: ClassVar[str] = ""
    remedy: ClassVar[str] = ""
    """The remedy, with `HOST` for the registry."""


class PlainHttpError(RegistryError):
    """A registry without TLS that the engine was not told of."""

    said = ("server gave HTTP response to HTTPS client",)
    problem = "it speaks http, and the engine asks for https"
    remedy = (
        'give it a certificate, or add "insecure-registries": ["HOST"] to /etc/docker/daemon.json of the engine (of '
        'Podman: a [[registry]] with location = "HOST" and insecure = true to /etc/containers/registries.conf) and '
        "restart the engine"
    )


class CertificateError(RegistryError):
    """A registry whose certificate the engine does not trust."""

    said = ("x509:", "tls:", "certificate")
    problem = "the engine does not trust its certificate"
    remedy = "put the certificate of its authority into /etc/docker/certs.d/HOST/ca.crt"


class DeniedError(RegistryError):
    """A registry that refuses this user."""

    said = ("denied", "unauthorized", "no basic auth credentials", "authentication required", "forbidden")
    problem = "it refuses this user"
    remedy = "log in with: docker login HOST, or ask for the right to do this"


class NotInRegistryError(RegistryError):
    """An image that a registry does not have."""

    said = ("manifest unknown", "manifest for .* not found", "name unknown", "name not known", "blob unknown")
    problem = "it does not have this image"
    remedy = "push it again with: orchestrator push"


class NoRegistryError(RegistryError):
    """An address at which no registry answers."""

    said = (
        "connection refused", "no such host", "server misbehaving", "no route to host", "network is unreachable",
        "i/o timeout", "timeout exceeded", "handshake timeout", "deadline exceeded", "did not answer",
        "awaiting headers", "waiting for connection", "connection reset", "dial tcp",
        r"error parsing HTTP \d+ response body", "invalid character", "page not found", "unexpected http status: 40",
    )  # fmt: skip
    problem = "no registry answers there"
    remedy = "check its name and port, and that the engine's host reaches it"


_KINDS: tuple[type[RegistryError], ...] = (
    PlainHttpError,
    CertificateError,
    DeniedError,
    NotInRegistryError,
    NoRegistryError,
)
"""The first that matches a message is its kind."""


def host_of(reference: str) -> str:
    """Return the registry of a full name of an image, such as `registry:5000`."""
    return reference.partition("/")[0]


def registry_error(said: str, host: str) -> RegistryError:
    """Return the error for a message of the engine about the registry `host`."""
    text = one_line(said)[:_MOST_CHARACTERS].rstrip(". ")
    for kind in _KINDS:
        if re.search("|".join(kind.said), text, re.IGNORECASE):
            return kind(f"registry {host}: {kind.problem} ({text}); {kind.remedy.replace('HOST', host)}")
    return RegistryError(f"registry {host}: {text}")


def credentials_error(host: str) -> DeniedError:
    """Return the error for a credential helper that fails. Its output may hold a secret and is not repeated."""
    return DeniedError(
        f"registry {host}: the credential helper that ~/.docker/config.json names failed; "
        f"try it with: docker login {host}"
    )
