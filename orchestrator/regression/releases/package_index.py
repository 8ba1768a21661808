"""The releases of a distribution on the package indexes of this site."""

import re
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

import requests
from packaging.utils import canonicalize_name
from requests.adapters import HTTPAdapter
from requests.utils import should_bypass_proxies
from urllib3.exceptions import HTTPError, InsecureRequestWarning
from urllib3.util import Retry

from orchestrator.build_settings import BuildSettings
from orchestrator.images.settings import redacted, secrets
from orchestrator.regression.releases.pages import (
    ACCEPTED,
    ListedFile,
    ListingError,
    PublishedRelease,
    listed_files,
    one_line,
    releases,
)

PYPI = "https://pypi.org/simple"

MAX_BYTES = 64 * 1024 * 1024
"""Size of one unpacked page; the largest projects have a fifth of it."""

_PIECE_BYTES = 65536

_TRIES = 3

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Offered:
    """The releases that the indexes of this site have."""

    releases: tuple[PublishedRelease, ...]
    """Oldest version first."""
    problems: tuple[str, ...] = ()
    """One line for each place that did not answer: what it may hold is not known."""


class _UnansweredError(Exception):
    """A place did not answer. The message is one line."""


def offered_releases(distribution: str, settings: BuildSettings, timeout_s: float = 30.0) -> Offered:
    """Ask every index and every find-links place for the releases of a distribution.

    `timeout_s` is that of one place, from the question to the last byte. Raises nothing: what does not answer is named
    in `problems`, as is a distribution that no place knows.
    """
    project = str(canonicalize_name(distribution))
    files: list[ListedFile] = []
    problems: list[str] = []
    for place in _places(project, settings):
        try:
            files += _files(place, settings, timeout_s)
        except (_UnansweredError, ListingError) as error:
            text = f"{without_credentials(place)}: {error}"
            problems.append(one_line(redacted(text, secrets(settings))))
    listed = releases(project, files)
    if not listed and not problems:
        problems.append(f"no package index and no find-links place of this site has a release of {project}")
    return Offered(listed, tuple(problems))


def without_credentials(place: str) -> str:
    """Return a URL without its credentials."""
    return re.sub(r"(?<=://)[^/@]*@", "", place)


def _places(project: str, settings: BuildSettings) -> Iterator[str]:
    if not settings.no_index:
        for index in dict.fromkeys((settings.pip_index or PYPI, *settings.extra_indexes)):
            yield f"{index.rstrip('/')}/{project}/"
    yield from dict.fromkeys(settings.find_links)


def _files(place: str, settings: BuildSettings, timeout_s: float) -> tuple[ListedFile, ...]:
    if place.startswith(("http://", "https://")):
        return _asked(place, settings, timeout_s)
    if "://" in place and not place.startswith("file://"):
        raise _UnansweredError(f"only http, https and file are asked, not {place.partition('://')[0]}")
    return _in_folder(Path(unquote(urlsplit(place).path)) if "://" in place else Path(place))


def _in_folder(path: Path) -> tuple[ListedFile, ...]:
    """Return the files of a folder, or of an index page in it."""
    try:
        if (path / "index.html").is_file():
            path /= "index.html"
        if not path.is_file():
            return tuple(ListedFile(entry.name) for entry in path.iterdir() if entry.is_file())
        with path.open("rb") as file:
            return listed_files("text/html", file.read(MAX_BYTES))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise _UnansweredError(f"cannot be read: {error.strerror}") from None


def _asked(url: str, settings: BuildSettings, timeout_s: float) -> tuple[ListedFile, ...]:
    """Return the files that one page lists, or none if there is no such page."""
    with warnings.catch_warnings():
        # An index that is trusted without a certificate was chosen so by the user.
        warnings.simplefilter("ignore", InsecureRequestWarning)
        try:
            page = within(timeout_s, lambda: _page(url, settings, timeout_s))
        except (TimeoutError, requests.exceptions.ReadTimeout):
            raise _UnansweredError(f"no whole answer within {timeout_s:g} s") from None
        except (requests.exceptions.RequestException, HTTPError, OSError, UnicodeError) as error:
            raise _UnansweredError(f"does not answer: {_reason(error)}") from None
    return listed_files(*page) if page is not None else ()


def _page(url: str, settings: BuildSettings, timeout_s: float) -> tuple[str, bytes] | None:
    """Type and body of what a URL answers with, or None if there is no such page."""
    with requests.Session() as session:
        session.trust_env = False
        again = Retry(total=_TRIES - 1, backoff_factor=0.5, status_forcelist=(502, 503, 504), raise_on_status=False)
        session.mount("http://", HTTPAdapter(max_retries=again))
        session.mount("https://", HTTPAdapter(max_retries=again))
        answer = session.get(
            url,
            headers={"Accept": ACCEPTED, "Cache-Control": "max-age=0"},
            proxies=proxies_for(url, settings),
            verify=_verified(url, settings),
            timeout=timeout_s / _TRIES,
            stream=True,
        )
        with answer:
            if answer.status_code == 404:
                return None
            if answer.status_code != 200:
                problem = f"answers with status {answer.status_code} {one_line(answer.reason or '')}"
                raise _UnansweredError(problem.rstrip())
            return answer.headers.get("Content-Type", ""), _body(answer)


def _body(answer: requests.Response) -> bytes:
    body = bytearray()
    for piece in answer.iter_content(_PIECE_BYTES):
        body += piece
        if len(body) > MAX_BYTES:
            raise _UnansweredError(f"answers with more than {MAX_BYTES} bytes")
    return bytes(body)


def proxies_for(url: str, settings: BuildSettings) -> dict[str, str]:
    """Return the proxies for a URL by scheme, or none if `no_proxy` names its host."""
    proxies = dict(settings.proxies)
    if should_bypass_proxies(url, proxies.get("no_proxy") or ""):
        return {}
    return {name.removesuffix("_proxy"): proxies[name] for name in ("http_proxy", "https_proxy") if proxies.get(name)}


def _verified(url: str, settings: BuildSettings) -> bool | str:
    parts = urlsplit(url)
    host = parts.hostname or ""
    if {host, f"{host}:{parts.port}"} & set(settings.trusted_hosts):
        return False
    return settings.ca_bundle or True


def _reason(error: BaseException) -> str:
    """Return the innermost cause in few words. The library's own sentence quotes a chain of objects."""
    seen = error
    while seen.__context__ is not None or seen.__cause__ is not None:
        inner = seen.__cause__ or seen.__context__
        if inner is None:
            break
        seen = inner
    text = getattr(seen, "strerror", None) or str(seen) or type(seen).__name__
    return one_line(str(text))[:200]


def within(timeout_s: float, call: Callable[[], _Found]) -> _Found:
    """Return or raise the outcome of a call. Raises `TimeoutError` if it has not ended in time.

    The timeout of a socket is that of each read, which a host that drips never meets, and looking up a name has none.
    A call that is late goes on in a thread that keeps no process from its end, and nobody hears what becomes of it.
    """
    future: Future[_Found] = Future()

    def carry_out() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # raised again where it is waited for
            future.set_exception(error)

    threading.Thread(target=carry_out, daemon=True).start()
    return future.result(timeout_s)
