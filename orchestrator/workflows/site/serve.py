"""The site over all runs, served with what is measured at the moment."""

import hashlib
import secrets
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from platform import node

from orchestrator.errors import InputError
from orchestrator.reporting.site.folder import INDEX
from orchestrator.server.access import SHORTEST_TOKEN, Access, is_loopback
from orchestrator.wording import counted
from orchestrator.workflows import option_values
from orchestrator.workflows.host import places
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.site.publish import PublishOptions
from orchestrator.workflows.site.renewal import SiteRenewal

_NEEDED = ("starlette", "uvicorn")
_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
"""The characters that stand in an address as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The options of `serve`."""

    results: Path = option_values.RESULTS
    """The results folder. What comes into it later is shown too."""
    address: str = option_values.SERVE_ADDRESS
    """The address to listen at. One that other machines reach needs a token."""
    port: int = option_values.SERVE_PORT
    """The port to listen at, 0 for any that is free."""
    token: str = ""
    """The secret that viewers need. One is made for an address that other machines reach."""
    site: Path | None = None
    """The folder of the site, by default one in the cache."""
    nights: Sequence[Path] = ()
    """Reports folders of nightlies. Those within the results folder are found without it."""
    acknowledged: Path | None = None
    """The file of known changes."""


def _nobody(address: str) -> None:
    del address


def serve(options: ServeOptions, host: Host, ready: Callable[[str], None] = _nobody) -> None:
    """Publish a site over all runs and serve it until the host stops the work. Files of results are only read.

    `ready` is called with the address to open, token and all.

    Raises `InputError` without Starlette and uvicorn, for no such results folder, or a token that is too short;
    `HostError` if the address cannot be had, or the site cannot be written.

    Example: `serve(ServeOptions(port=0), this_host())`
    """
    _check(options)
    from orchestrator.server import serving  # noqa: PLC0415 - what it needs is optional

    site = options.site or site_folder(options.results, host)
    token = options.token or ("" if is_loopback(options.address) else secrets.token_urlsafe(24))
    published = PublishOptions(
        output=site, results=options.results, nights=options.nights, acknowledged=options.acknowledged
    )
    with serving.listening(options.address, options.port) as opened, host.working():
        port = int(opened.getsockname()[1])
        with closing(SiteRenewal(published, places.turns(host.environment), host)) as renewal:
            renewal.first(wait=not (site / INDEX).is_file())
            ready(shown_address(options.address, port, token))
            access = Access(options.address, port, token)
            serving.serve(serving.Service(site, options.results, access, renewal, host.stop), opened)


def _check(options: ServeOptions) -> None:
    """Raise `InputError` for what cannot be served."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    mistakes = []
    if missing:
        mistakes.append(
            f"serve needs {' and '.join(missing)}: pip install {' '.join(missing)}, or write a site "
            "with `orchestrator publish`"
        )
    if not options.results.is_dir():
        mistakes.append(
            f"{options.results}: no such folder; `orchestrator run` makes one, --results DIR looks elsewhere"
        )
    if options.token and (len(options.token) < SHORTEST_TOKEN or not set(options.token) <= _CHARACTERS):
        mistakes.append(
            f"--token: needs {counted(SHORTEST_TOKEN, 'character')} or more, of letters, digits and -._~; leave it out "
            "and one is made where it is needed"
        )
    if mistakes:
        raise InputError(*mistakes)


def site_folder(results: Path, host: Host) -> Path:
    """Return the folder of the site that is served of a results folder."""
    name = hashlib.sha256(str(results.resolve()).encode()).hexdigest()[:16]
    return host.cache / option_values.SITES / name


def shown_address(address: str, port: int, token: str) -> str:
    """Return the address to open in a browser."""
    name = {"127.0.0.1": "localhost", "::1": "localhost", "0.0.0.0": node(), "::": node()}.get(address, address)  # noqa: S104
    name = f"[{name}]" if ":" in name else name
    return f"http://{name}:{port}/{f'?token={token}' if token else ''}"
