"""Mutations of valid matrices from a seed, as if mistyped, cut off, merged badly or written in malice."""

import random
import re
from collections.abc import Sequence
from typing import Any

import yaml

from bench.records import ROOT

_TOKEN = re.compile(rb"[A-Za-z0-9_.-]+|\s+|.", re.DOTALL)
PIECES = (
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b": ",
        b"- ",
        b", ",
        b"\n",
        b"\t",
        b"\r",
        b"&a ",
        b"*a",
        b"!!int ",
        b"!x ",
        b"<<: ",
    ),
    *(b"? ", b"|\n", b">", b"'", b'"', b"#", b"%", b"---\n", b"...", b"~", b"null", b".nan", b"-.inf", b"1e999", b"=="),
    *(b"9" * 40, b"-1", b"0", b"1_0", b"0x10", b"true", b"\x00", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\xe2\x80\xa8"),
    *(b"\x85", b"\\U99999999", b" on ", b"{python}", b"{python", b"../../etc/passwd", b"/etc/passwd", b"file:///etc"),
    *(
        b"\x1b[31m",
        b"=cmd()",
        b"<script>",
        b"$(id)",
        b"`id`",
        "é".encode(),
        "\u202e".encode(),
        b"a" * 300,
        b"10m",
        b"8g",
    ),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 10**30, 0.5, float("nan"), float("inf"), "", " ", "x", "..", "a/b", "x" * 300, "é"),
    *(
        [],
        {},
        [[]],
        [None],
        {"": None},
        {"a": {}},
        ["mxnet==1.9.1"],
        "mxnet==1.9.1",
        "cpu",
        "10m",
        "8g",
        "\x1b[31m",
        "=1",
    ),
)


def corpus() -> list[bytes]:
    """Return every matrix that this repository shows to its readers, with parts of one completed.

    A catalog is none.
    """
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    shown = [block for page in pages for block in re.findall(r"```yaml\n(.*?)```", page.read_text("utf-8"), re.DOTALL)]
    matrices = [block for block in shown if re.search(r"^(frameworks|scripts):", block, re.MULTILINE)]
    return [(ROOT / "matrix.yaml").read_bytes(), *(_whole(block).encode() for block in matrices)]


def _whole(block: str) -> str:
    return block if block.startswith("version:") else f"version: 1\nmodels: [lenet]\n{block}"


def mutated(generator: random.Random, matrices: Sequence[bytes]) -> bytes:
    """Return one of the matrices with one to four mutations of its bytes, tokens or structure."""
    content = generator.choice(matrices)
    for _ in range(generator.randint(1, 4)):
        content = generator.choice((_bytes, _bytes, _tokens, _tokens, _structure))(generator, content, matrices)
    return content[:20_000]


def _bytes(generator: random.Random, content: bytes, matrices: Sequence[bytes]) -> bytes:
    """Cut, repeat, insert or flip bytes anywhere."""
    start = generator.randint(0, len(content))
    end = min(len(content), start + generator.randint(0, 12))
    flipped = bytes(byte ^ (1 << generator.randrange(8)) for byte in content[start:end])
    other = generator.choice(matrices)
    there = generator.randint(0, len(other))
    middle = generator.choice(
        (b"", flipped, content[start:end] * 2, generator.choice(PIECES), other[there : there + 40])
    )
    return content[:start] + middle + content[end:]


def _tokens(generator: random.Random, content: bytes, matrices: Sequence[bytes]) -> bytes:
    """Drop, swap, repeat or exchange words and marks."""
    del matrices
    tokens = _TOKEN.findall(content)
    if not tokens:
        return content
    first, second = generator.randrange(len(tokens)), generator.randrange(len(tokens))
    match generator.randrange(4):
        case 0:
            del tokens[first]
        case 1:
            tokens[first], tokens[second] = tokens[second], tokens[first]
        case 2:
            tokens.insert(first, tokens[second])
        case _:
            tokens[first] = generator.choice(PIECES)
    return b"".join(tokens)


def _structure(generator: random.Random, content: bytes, matrices: Sequence[bytes]) -> bytes:
    """Put another value, or a part of another matrix, in the place of any value or key."""
    try:
        document, other = yaml.safe_load(content), yaml.safe_load(generator.choice(matrices))
    except Exception:  # another loader may raise anything
        return content
    places = _places(document)
    if not places:
        return content
    holder, key = generator.choice(places)
    value = generator.choice((generator.choice(VALUES), generator.choice(_places(other) or [({0: None}, 0)])))
    if isinstance(value, tuple):
        value = value[0][value[1]]
    if isinstance(holder, dict) and generator.random() < 0.3:
        holder[generator.choice(("", "x", "framework", "models", "*", 1, None, "cpu", "é"))] = holder.pop(key)
    else:
        holder[key] = value
    return yaml.safe_dump(document, allow_unicode=True).encode("utf-8", "replace")


def _places(value: Any) -> list[tuple[Any, Any]]:
    places: list[tuple[Any, Any]] = []
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            places.append((value, key))
            places += _places(value[key])
    return places
