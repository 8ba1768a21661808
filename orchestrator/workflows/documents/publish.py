"""The document of a site that was published."""

from typing_extensions import TypedDict

from orchestrator.documents import DocumentKind, Envelope
from orchestrator.reporting.site.publishing import Published


class PublishedSiteData(TypedDict):
    """A site that was written, or brought up to date."""

    page: str
    """The page to open."""
    runs: int
    read: int
    """Runs that were read, because they are new or have changed."""
    repeats: int
    """Repeats that ended well."""
    files_written: int
    size_bytes: int
    """Of all files of the site."""
    left_out: list[str]
    """Runs that could not be read, each with the reason."""


PUBLISHED_SITE = DocumentKind("published-site", 1, PublishedSiteData)


def publish_document(published: Published) -> Envelope:
    """Return a site that was published."""
    data: PublishedSiteData = {
        "page": str(published.page),
        "runs": published.runs,
        "read": published.read,
        "repeats": published.repeats,
        "files_written": published.written,
        "size_bytes": published.size_bytes,
        "left_out": list(published.problems),
    }
    return PUBLISHED_SITE.envelope(data)
