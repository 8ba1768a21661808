"""The envelope of documents, whole and in pieces."""

import json

from orchestrator import __version__
from orchestrator.documents import DocumentKind, Envelope

THINGS = DocumentKind("things", 2, list[str])


def test_an_envelope_names_document_and_program() -> None:
    text = "".join(THINGS.envelope(["one", {"two": None}]).texts())

    assert json.loads(text) == {"schema": "things/2", "orchestrator": __version__, "data": ["one", {"two": None}]}
    assert text.startswith('{\n "schema": "things/2",\n')
    assert text.endswith('\n  {\n   "two": null\n  }\n ]\n}\n')


def test_pieces_are_taken_one_by_one() -> None:
    taken = []

    def pieces() -> list[str]:
        taken.append(1)
        return ["[1,", "\n2]"]

    texts = Envelope(THINGS, (piece for piece in pieces())).texts()
    first = next(texts)

    assert first.endswith('"data": ')
    assert json.loads(first + "".join(texts))["data"] == [1, 2]


def test_a_text_with_a_line_end_stays() -> None:
    """Lines are indented, and what stands inside a text is escaped."""
    assert json.loads("".join(THINGS.envelope(["a\nb\u2028"]).texts()))["data"] == ["a\nb\u2028"]
