"""JSON for programs, with stable names and SI units."""

from collections.abc import Iterator

from orchestrator.documents import Envelope


def texts(envelope: Envelope) -> Iterator[str]:
    """Render a document with its envelope as one text."""
    yield "".join(envelope.texts())
