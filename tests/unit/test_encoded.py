"""JSON as every command prints it: nothing in it steers a terminal, and a program reads what was meant."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.cli.output import speech
from orchestrator.documents import json_text

DIRECTION = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "LRM", "RLM", "ALM"}
CATEGORIES = {"Cc", "Cs", "Zl", "Zp"}
"""Control characters, halves of surrogate pairs, separators of lines and paragraphs."""


def steers(character: str) -> bool:
    marks = {"\u200e", "\u200f", "\u061c"}
    bidirectional = unicodedata.bidirectional(character) in DIRECTION or character in marks
    return bidirectional or unicodedata.category(character) in CATEGORIES


def test_every_steering_character_is_encoded() -> None:
    """No character of Unicode that steers is left as it is."""
    every = [chr(code) for code in range(0x11_0000)]

    text = json_text(every)

    assert [character for character in set(text) if steers(character)] == []
    assert json.loads(text) == every


def test_other_languages_stay_readable() -> None:
    assert json_text({"größe": "模型 × 2"}) == '{"größe": "模型 × 2"}'


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_a_program_reads_what_was_meant(document: object) -> None:
    assert json.loads(json_text(document)) == document
    assert json.loads(json_text(document, indent=1)) == document


def test_numbers_that_json_does_not_know_are_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text({"rate": float("nan")})


def test_commands_print_it(capsys: pytest.CaptureFixture[str]) -> None:
    speech.print_json({"run": "a\x9b31mb\u202e"})

    assert capsys.readouterr().out == '{\n "run": "a\\u009b31mb\\u202e"\n}\n'
