"""Where packages come from on this site, told to uv and pip by their environment: nothing of it is written to disk."""

import os
from collections.abc import Mapping
from pathlib import Path

import requests

from orchestrator.domain import BuildSettings, Environment
from orchestrator.images import wheels

PROBE_TIMEOUT_S = 5.0


def variables(settings: BuildSettings, index: str | None, host: Mapping[str, str], cache: Path) -> dict[str, str]:
    """Tell both tools where to look; `index` is the framework's own, asked beside the site's.

    Of the host's environment only PATH (compilers) and HOME (credentials in `.netrc`) are handed on.
    """
    extra = " ".join((*settings.extra_indexes, *([index] if index else [])))
    folders = " ".join(settings.find_links)
    told = {
        "UV_DEFAULT_INDEX": settings.pip_index,
        "PIP_INDEX_URL": settings.pip_index,
        "UV_INDEX": extra,
        "PIP_EXTRA_INDEX_URL": extra,
        "UV_FIND_LINKS": folders.replace(" ", ","),
        "PIP_FIND_LINKS": folders,
        "UV_INSECURE_HOST": " ".join(settings.trusted_hosts),
        "PIP_TRUSTED_HOST": " ".join(settings.trusted_hosts),
        "SSL_CERT_FILE": settings.ca_bundle,
        "PIP_CERT": settings.ca_bundle,
        **dict(settings.proxies),
    }
    fixed = {
        "LANG": "C.UTF-8",
        # The host's configuration is in the settings already; a second reading could contradict them.
        "UV_NO_CONFIG": "1",
        "PIP_CONFIG_FILE": os.devnull,
        # pip takes the best version of all indexes; uv must do the same, or the two make different environments.
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_CACHE_DIR": str(cache / "uv"),
        "PIP_CACHE_DIR": str(cache / "pip"),
        "PIP_NO_INPUT": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    handed_on = {name: host[name] for name in ("PATH", "HOME") if name in host}
    return handed_on | fixed | {name: value for name, value in told.items() if value}


def own_index(environment: Environment, settings: BuildSettings) -> str | None:
    """The index of its own that an environment must ask; None where it has none, or a find-links folder serves."""
    if environment.package_index is None or not environment.requirements:
        return None
    candidates = wheels.offered(settings.find_links, environment.python)
    return None if wheels.offers(candidates, environment.requirements[0]) else environment.package_index


def unreachable(index: str, settings: BuildSettings, *, timeout_s: float = PROBE_TIMEOUT_S) -> str | None:
    """Why an index does not answer, in one line; None where it does. Costs seconds at most."""
    session = requests.Session()
    session.trust_env = False
    session.verify = settings.ca_bundle or True
    session.proxies = {name.removesuffix("_proxy"): url for name, url in settings.proxies if name != "no_proxy"}
    place = index.rsplit("@", maxsplit=1)[-1]
    try:
        with session.get(index, timeout=timeout_s, stream=True) as response:
            return None if response.ok else f"{place} answers {response.status_code}"
    except requests.exceptions.RequestException as error:
        return f"{place} does not answer ({type(error).__name__})"
    finally:
        session.close()
