"""The pages of a package index (PEP 691, PEP 503, PEP 592, PEP 700), read as releases."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import unquote

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version
from pydantic_core import from_json

JSON_TYPE = "application/vnd.pypi.simple.v1+json"
HTML_TYPE = "application/vnd.pypi.simple.v1+html"
ACCEPTED = f"{JSON_TYPE}, {HTML_TYPE};q=0.2, text/html;q=0.1"
_HTML_TYPES = {HTML_TYPE, "text/html", "application/xhtml+xml"}
_LONGEST_NAME = 300
_LONGEST_TEXT = 200


class ListingError(ValueError):
    """An answer that is no list of files. The message is one line."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """One file of a project, as its index lists it."""

    name: str
    yanked: str | None = None
    """The reason it was withdrawn, possibly empty; None if it was not."""
    requires_python: str = ""
    uploaded_at: str = ""
    """ISO 8601; empty if the index does not report it."""


@dataclass(frozen=True, slots=True)
class PublishedRelease:
    """One version of a distribution that an index offers."""

    version: str
    """The version by PEP 440 without a local part: 2.13.0+cpu is a build of 2.13.0."""
    uploaded_at: str = ""
    """The time of its first file; empty if the index does not report it."""
    yanked: str | None = None
    """The reason all of its files were withdrawn, possibly empty; None if one was not."""
    requires_python: tuple[str, ...] = ()
    """The Python requirements of its files, each once."""

    @property
    def is_prerelease(self) -> bool:
        """Return true if it is a development, alpha, beta or candidate release."""
        return Version(self.version).is_prerelease

    def runs_on(self, python: str) -> bool:
        """Return true if a file of it takes Python `python`. An unreadable requirement refuses none, as with pip."""
        return not self.requires_python or any(_admits(text, python) for text in self.requires_python)


def listed_files(content_type: str, body: bytes) -> tuple[ListedFile, ...]:
    """Read a project's page of an index, JSON or HTML. Raises `ListingError` where it is neither.

    Entries that make no sense are left out: an index lists what anybody uploads.
    """
    kind, _, parameters = content_type.partition(";")
    kind = kind.strip().lower()
    if kind == JSON_TYPE:
        return _from_json(body)
    if kind in _HTML_TYPES:
        return _from_html(body.decode(_charset(parameters), errors="replace"))
    raise ListingError(f"answers with {one_line(kind)[:80] or 'no content type'}, which is no page of a package index")


def one_line(text: str) -> str:
    """Return a foreign text on one line, without control characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def releases(project: str, files: Iterable[ListedFile]) -> tuple[PublishedRelease, ...]:
    """Put the files of one project together to its releases, oldest version first. Files of others are left out."""
    wanted = canonicalize_name(project)
    by_version: dict[Version, list[ListedFile]] = {}
    for file in files:
        version = _version(file.name, wanted)
        if version is not None:
            by_version.setdefault(Version(version.public), []).append(file)
    return tuple(_release(version, by_version[version]) for version in sorted(by_version))


def _release(version: Version, files: Sequence[ListedFile]) -> PublishedRelease:
    standing = [file for file in files if file.yanked is None]
    reasons = [file.yanked for file in files if file.yanked]
    return PublishedRelease(
        version=str(version),
        uploaded_at=min((file.uploaded_at for file in files if file.uploaded_at), default=""),
        yanked=None if standing else next(iter(reasons), ""),
        requires_python=() if any(not file.requires_python for file in files) else _distinct(files),
    )


def _distinct(files: Iterable[ListedFile]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(file.requires_python for file in files))


def _version(filename: str, wanted: str) -> Version | None:
    """Return the version of a wheel or source archive of this project, or None for another file."""
    if len(filename) > _LONGEST_NAME:
        return None
    try:
        if filename.endswith(".whl"):
            name, version, _, _ = parse_wheel_filename(filename)
        else:
            name, version = parse_sdist_filename(filename)
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None
    return version if name == wanted else None


def _admits(requirement: str, python: str) -> bool:
    try:
        return SpecifierSet(requirement).contains(f"{python}.99", prereleases=True)
    except InvalidSpecifier:
        return True


def _from_json(body: bytes) -> tuple[ListedFile, ...]:
    try:
        document = from_json(body)
    except ValueError as error:
        raise ListingError(f"answers with broken JSON: {one_line(str(error))[:_LONGEST_TEXT]}") from None
    files = document.get("files") if isinstance(document, dict) else None
    if not isinstance(files, list):
        raise ListingError("answers with JSON that lists no files")
    meta = document.get("meta")
    _refuse_newer(meta.get("api-version") if isinstance(meta, dict) else None)
    return tuple(_json_file(entry) for entry in files if isinstance(entry, dict) and _text(entry, "filename"))


def _json_file(entry: dict[str, object]) -> ListedFile:
    yanked = entry.get("yanked")
    return ListedFile(
        name=_text(entry, "filename"),
        yanked=_text(entry, "yanked") if yanked else None,
        requires_python=_text(entry, "requires-python"),
        uploaded_at=_text(entry, "upload-time"),
    )


def _text(entry: dict[str, object], key: str) -> str:
    value = entry.get(key)
    return one_line(value)[: _LONGEST_NAME + 1] if isinstance(value, str) else ""


def _from_html(text: str) -> tuple[ListedFile, ...]:
    page = _Page()
    try:
        page.feed(text)
        page.close()
    except (AssertionError, ValueError):
        raise ListingError("answers with HTML that cannot be read") from None
    _refuse_newer(page.version)
    return tuple(page.files)


class _Page(HTMLParser):
    """A reader of every anchor of a page of links.

    Pages not made by PEP 503 count too: web servers shorten the text of long names.
    """

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.files: list[ListedFile] = []
        self.version: str | None = None
        self._anchor: dict[str, str] | None = None
        self._name = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an anchor, or note the version of the page's format (PEP 629)."""
        attributes = {name: value or "" for name, value in attrs}
        if tag == "meta" and attributes.get("name") == "pypi:repository-version":
            self.version = attributes.get("content")
        elif tag == "a":
            self._anchor, self._name = attributes, ""

    def handle_data(self, data: str) -> None:
        """Take part of an anchor's text."""
        if self._anchor is not None and len(self._name) <= _LONGEST_NAME:
            self._name += data

    def handle_endtag(self, tag: str) -> None:
        """Take the file of an anchor."""
        if tag != "a" or self._anchor is None:
            return
        attributes, self._anchor = self._anchor, None
        name = _linked_name(attributes["href"]) if "href" in attributes else self._name
        self.files.append(
            ListedFile(
                name=one_line(name)[: _LONGEST_NAME + 1],
                yanked=one_line(attributes["data-yanked"])[:_LONGEST_TEXT] if "data-yanked" in attributes else None,
                requires_python=one_line(attributes.get("data-requires-python", ""))[:_LONGEST_TEXT],
            )
        )


def _linked_name(href: str) -> str:
    """Return the file a link leads to, as pip takes it, which is the last part of its path."""
    return unquote(href.partition("#")[0].partition("?")[0]).rpartition("/")[2]


def _refuse_newer(version: object) -> None:
    major = version.partition(".")[0] if isinstance(version, str) else "1"
    if major.isdecimal() and len(major) < 9 and int(major) > 1:
        raise ListingError(f"speaks version {one_line(str(version))[:20]} of the index format; this program reads 1")


def _charset(parameters: str) -> str:
    name = parameters.partition("charset=")[2].strip().strip('"').lower()
    return "latin-1" if name in {"iso-8859-1", "latin-1", "latin1"} else "utf-8"
