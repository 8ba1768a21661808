"""This host's pip configuration and proxies as build settings, so that builds reach what the host reaches."""

import configparser
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from orchestrator.build_settings import BuildSettings
from orchestrator.errors import InputError

_PROXIES = ("http_proxy", "https_proxy", "no_proxy")
_LOOPBACKS = {"localhost", "127.0.0.1", "::1"}
_SECTIONS = ("global", "install")  # pip lets the command's own section win over [global]


def pip_files(environment: Mapping[str, str], home: Path, prefix: Path) -> tuple[Path, ...]:
    """Return the configuration files of pip, weakest first (see "Configuration" in pip's manual).

    `prefix` is that of the interpreter whose pip is meant.
    """
    if environment.get("PIP_CONFIG_FILE") == "/dev/null":
        return ()
    folders = [Path(part) for part in environment.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":") if part]
    user = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    files = [*(folder / "pip" / "pip.conf" for folder in folders), Path("/etc/pip.conf")]
    files += [home / ".pip" / "pip.conf", user / "pip" / "pip.conf", prefix / "pip.conf"]
    if own := environment.get("PIP_CONFIG_FILE"):
        files.append(Path(own))
    return tuple(files)


def settings_from_pip(environment: Mapping[str, str], files: Sequence[Path]) -> BuildSettings:
    """Return the build settings of this host's pip.

    Variables `PIP_*` override files, and later files override earlier ones.

    Raises `InputError` where a file is there and is no pip configuration.
    """
    options: dict[str, str] = {}
    for path in files:
        options |= _read(path)
    options |= {
        name[4:].lower().replace("_", "-"): value
        for name, value in environment.items()
        if name.startswith("PIP_") and value
    }
    bundle = options.get("cert")
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        bundle = bundle or environment.get(name) or None
    return BuildSettings(
        pip_index=options.get("index-url"),
        extra_indexes=tuple(options.get("extra-index-url", "").split()),
        find_links=tuple(options.get("find-links", "").split()),
        trusted_hosts=tuple(options.get("trusted-host", "").split()),
        no_index=options.get("no-index", "").lower() in {"1", "true", "yes", "on"},
        ca_bundle=bundle,
        proxies=_proxies(environment, options.get("proxy")),
    )


def overlay(explicit: BuildSettings, host: BuildSettings) -> BuildSettings:
    """Return the settings of the matrix, completed by those of the host."""
    unsaid = {
        field.name: getattr(host, field.name)
        for field in fields(BuildSettings)
        if not field.name.startswith("base_image") and not getattr(explicit, field.name)
    }
    if explicit.pip_index:
        # The extra indexes and the ban on indexes belong to the index they were written beside.
        unsaid |= {"extra_indexes": explicit.extra_indexes, "no_index": explicit.no_index}
    return replace(explicit, **unsaid)


def secrets(settings: BuildSettings) -> tuple[str, ...]:
    """Return every password in the settings, as written and as decoded. No log, layer or record may show them."""
    urls = [settings.pip_index, *settings.extra_indexes, *settings.find_links, settings.apt_mirror]
    urls += [value for _, value in settings.proxies]
    passwords: dict[str, None] = {}
    for url in urls:
        text = password(url or "")
        if text:
            passwords |= {text: None, unquote(text): None}
    return tuple(passwords)


def password(url: str) -> str | None:
    """Return the password of a URL, or a token that stands alone before the `@`, or None."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return parts.password or parts.username or None


def build_arguments(settings: BuildSettings) -> dict[str, str]:
    """Return proxies as the engine's predefined build arguments, in lower and upper case.

    These leave no trace in an image's history.
    """
    return {form: value for name, value in settings.proxies for form in (name, name.upper())}


def build_network(settings: BuildSettings) -> str | None:
    """Return `host` if an index or proxy is this host's own, else None.

    No network of a container could reach it otherwise.
    """
    urls = (settings.pip_index, *settings.extra_indexes, *settings.find_links, settings.apt_mirror)
    proxies = (value for name, value in settings.proxies if name != "no_proxy")
    places = (_host(url) for url in (*urls, *proxies) if url)
    return "host" if any(place in _LOOPBACKS for place in places) else None


def redacted(text: str, secret_texts: Sequence[str]) -> str:
    """The same text with each secret as `****`."""
    for secret in sorted(secret_texts, key=len, reverse=True):
        text = text.replace(secret, "****")
    return text


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _read(path: Path) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    try:
        text = path.read_text(encoding="utf-8")
        parser.read_string(text, source=str(path))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return {}
    except (configparser.Error, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"{path}: not a pip configuration: {reason}; mend it or set PIP_CONFIG_FILE=/dev/null"
        ) from None
    sections = [parser[name] for name in _SECTIONS if parser.has_section(name)]
    return {name.replace("_", "-"): value for section in sections for name, value in section.items() if value}


def _proxies(environment: Mapping[str, str], pip_proxy: str | None) -> tuple[tuple[str, str], ...]:
    proxies = {name: environment.get(name) or environment.get(name.upper()) or "" for name in _PROXIES}
    if pip_proxy:
        url = pip_proxy if "://" in pip_proxy else f"http://{pip_proxy}"
        proxies |= {"http_proxy": url, "https_proxy": url}
    return tuple((name, value) for name, value in proxies.items() if value)
