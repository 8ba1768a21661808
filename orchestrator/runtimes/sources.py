"""Sources of packages on this site, passed to uv and pip by environment variables alone."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import requests

from orchestrator.build_settings import BuildSettings
from orchestrator.domain import ImageSpec
from orchestrator.images import wheels

PROBE_TIMEOUT_S = 5.0


def variables(settings: BuildSettings, host: Mapping[str, str], cache: Path) -> dict[str, str]:
    """Tell both tools where to look.

    Of the host's environment only PATH (compilers) and HOME (credentials in `.netrc`) are handed on.
    """
    extra = " ".join(settings.extra_indexes)
    hosts = " ".join(settings.trusted_hosts)
    site = {
        "UV_DEFAULT_INDEX": settings.pip_index,
        "PIP_INDEX_URL": settings.pip_index,
        "UV_INDEX": extra,
        "PIP_EXTRA_INDEX_URL": extra,
        "UV_FIND_LINKS": ",".join(settings.find_links),
        "PIP_FIND_LINKS": " ".join(settings.find_links),
        "UV_INSECURE_HOST": hosts,
        "PIP_TRUSTED_HOST": hosts,
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
    return handed_on | fixed | {name: value for name, value in site.items() if value}


def indexed(image: ImageSpec, settings: BuildSettings) -> str | None:
    """Return the requirement that must come from the framework's own index, or None.

    There is none without such an index, or if a folder offers it.
    """
    environment = image.environment
    if environment.package_index is None:
        return None
    wanted = environment.requirements[1 if image.framework.backend else 0]
    offered = wheels.offered(settings.find_links, environment.python)
    return None if wheels.offers(offered, wanted) else wanted


def own_index(image: ImageSpec, settings: BuildSettings) -> BuildSettings:
    """Return the settings for the framework's own index alone, since others may offer GPU builds of gigabytes."""
    return replace(settings, pip_index=image.environment.package_index, extra_indexes=(), no_index=False)


def refused(image: ImageSpec, settings: BuildSettings) -> tuple[str, ...]:
    """Return the versions a GPU environment must not take, which are CPU builds in find-links folders."""
    if image.image_class == "cpu":
        return ()
    offered = wheels.offered(settings.find_links, image.environment.python)
    return tuple(f"{one.name}!={one.version}" for one in offered if (one.version.local or "").startswith("cpu"))


def unreachable(index: str, settings: BuildSettings, *, timeout_s: float = PROBE_TIMEOUT_S) -> str | None:
    """Return the reason an index does not answer, in one line, or None. Takes seconds at most."""
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
