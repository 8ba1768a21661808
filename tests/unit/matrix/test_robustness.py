"""Whatever the bytes, loading gives a matrix or an error for people."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from orchestrator import catalog, matrix
from orchestrator.errors import InputError
from tests.effort import examples

FIXTURES = Path(__file__).parent.parent / "catalog" / "fixtures"
KNOWN = catalog.load(FIXTURES / "catalog")
MODELS = catalog.load_models(FIXTURES / "models")
SEED = b"""\
version: 1
systems: &s {cpu: {cpus: 2, memory: 8g}, 1_gpu: {gpus: 1}}
frameworks:
  - mxnet==1.9.1
  - keras-mxnet==2.2.4.3 on mxnet==1.5.1
  - {name: torch, version: [2.10, "2.13.0"], python: 3.10, packages: {numpy: [2.2.0]}, options: {layout: last}}
  - {name: torch, image: "registry.example/torch:2.1"}
models: [lenet, {name: mlp, batch_size: [32, 64], epochs: 2, timeout: 1h30m}]
modes: [train, infer]
options: {mxnet: {hybridize: [true, false]}, "*": {layout: auto}}
repeats: 4
exclude: [{framework: mxnet<1.9, hybridize: false}]
include: [{framework: mxnet==1.9.1, system: cpu, model: lenet, batch_size: 1, expect: oom_device}]
build: {proxy: "http://proxy.example", find_links: [.], base_image: "python:{python}"}
"""
PIECES = (
    *(b"{", b"}", b"[", b"]", b":", b"- ", b"\n", b"\t", b"\n\n  ", b"&a ", b"*a", b"*s", b"!!int ", b"!x ", b"<<: "),
    *(b"? ", b"|\n", b">", b"'", b'"', b"#", b"%", b"---\n", b"...", b"~", b"null", b".nan", b"-.inf", b"1e999"),
    *(b"9" * 40, b"-1", b"0", b"1_0", b"true", b"\x00", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\r"),
    *(b"\x85", b"\\U99999999", b"{}", b"[]", b"==", b" on ", b"{python", b"@", b"{python:>99999999999}", b"{python!r}"),
)


@st.composite
def mutations(draw: Callable[..., bytes]) -> bytes:
    """The seed with a few cuts, insertions, repetitions and swaps of lines."""
    content: bytes = SEED
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 12)))
        middle = draw(
            st.one_of(st.sampled_from(PIECES), st.binary(max_size=4), st.just(b""), st.just(content[start:end] * 2))
        )
        content = content[:start] + middle + content[end:]
        if draw(st.booleans()):
            lines = content.split(b"\n")
            one, other = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
            lines[one], lines[other] = lines[other], lines[one]
            content = b"\n".join(lines)
    return content


def load(path: Path, content: bytes) -> matrix.Matrix | Sequence[str]:
    """The matrix, or the messages with which it was refused; any other exception is a failure of its own."""
    path.write_bytes(content)
    try:
        return matrix.load(path, KNOWN, MODELS)
    except InputError as error:
        return error.messages


def is_sound(path: Path, end: matrix.Matrix | Sequence[str]) -> bool:
    """Assert that a file was loaded, or refused in lines that each begin with its name."""
    if isinstance(end, matrix.Matrix):
        return True
    return len(end) > 0 and all(line.startswith(str(path)) and "\n" not in line for line in end)


def test_the_seed_itself_loads(tmp_path: Path) -> None:
    assert isinstance(load(tmp_path / "m.yaml", SEED), matrix.Matrix)


QUICK = settings(max_examples=examples(2500), derandomize=True, database=None, suppress_health_check=list(HealthCheck))


@QUICK
@given(content=mutations())
def test_a_damaged_matrix_loads_or_is_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    """A mutilated matrix either loads or is refused with the places of its mistakes."""
    assume(len(content) < 4000)

    path = tmp_path_factory.getbasetemp() / "mutation.yaml"

    assert is_sound(path, load(path, content))


@settings(QUICK, max_examples=examples(500))
@given(content=st.binary(max_size=200))
def test_any_bytes_load_or_are_refused_with_places(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.yaml"

    assert is_sound(path, load(path, content))


VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.sampled_from(("mxnet", "cpu"))
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = (
    "name", "seed", "systems", "frameworks", "models", "modes", "options", "repeats", "warmup_steps", "steps", "epochs",
    "timeout", "exclude", "include", "build",
)  # fmt: skip


@settings(QUICK, max_examples=examples(1500))
@given(key=st.sampled_from(KEYS), value=VALUES, listed=st.booleans())
def test_any_value_loads_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, key: str, value: object, listed: bool
) -> None:
    """Any value of any key either loads or is refused with the places of the mistakes."""
    document = {"version": 1, "frameworks": ["noop==1"], "models": ["mlp"], key: [value] if listed else value}

    path = tmp_path_factory.getbasetemp() / "value.yaml"

    assert is_sound(path, load(path, json.dumps(document).encode()))
