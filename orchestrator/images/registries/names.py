"""Names of registries, and of our images in them."""

import re

from orchestrator.errors import InputError

_HOST = re.compile(r"(?:[A-Za-z0-9]+(?:[.-]+[A-Za-z0-9]+)*|\[[0-9A-Fa-f:]+\])(?::[0-9]{1,5})?")
_PREFIX = re.compile(r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*")


def checked_registry(registry: str) -> str:
    """Return a registry with its prefix, such as `registry:5000/team`, without a slash at its end.

    Raises `InputError` if it is none, which repeats nothing that may be a password.
    """
    if "@" in registry:
        raise InputError(
            "the registry is named with a user: name it without, and log in with docker login; credentials come from "
            "~/.docker/config.json alone"
        )
    if "://" in registry:
        raise InputError(f"registry {registry!r}: leave out {registry.partition('://')[0]}://; the engine chooses")
    host, *prefix = registry.rstrip("/").split("/")
    if not _HOST.fullmatch(host) or not all(map(_PREFIX.fullmatch, prefix)):
        raise InputError(f"registry {registry!r}: write it as HOST[:PORT][/PREFIX], the prefix in lower case")
    if host != "localhost" and not {".", ":"} & set(host):
        raise InputError(
            f"registry {registry!r}: {host!r} is no host with a domain or a port, and engines would go to docker.io; "
            f"write {host}:443, or docker.io/{host} if that is meant"
        )
    return "/".join((host, *prefix))


def name_in(registry: str, repository: str, reference: str) -> str:
    """Return the name in a registry of an image that is `reference` here, with its own repository and content tag."""
    return f"{registry}/{repository}:{reference.rsplit(':', 1)[1]}"
