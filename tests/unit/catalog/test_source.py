from pathlib import Path

import pytest

from orchestrator.catalog import source
from orchestrator.errors import InputError


def read(tmp_path: Path, content: str | bytes) -> source.Source:
    path = tmp_path / "f.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return source.read(path, "file")


def refusal(tmp_path: Path, content: str | bytes) -> str:
    with pytest.raises(InputError) as caught:
        read(tmp_path, content)
    return str(caught.value).replace(f"{tmp_path}/", "")


def test_every_value_has_its_place(tmp_path: Path) -> None:
    found = read(tmp_path, "a: 1\nb:\n  - x\n  - {c: d}\n")

    assert found.value == {"a": 1, "b": ["x", {"c": "d"}]}
    assert found.place(("b", 1, "c")) == source.Place(4, 9)
    assert found.keys["b", 1, "c"] == source.Place(4, 6)
    assert found.place(("b", 1, "nothing", "there")) == source.Place(4, 5)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("yes", "yes"),
        ("true", True),
        ("~", None),
        ("010", 10),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("0x1F", "0x1F"),
        ("1.10", 1.1),
        (".inf", float("inf")),
        ("-.inf", float("-inf")),
        ("1e3", 1000.0),
        ("2024-01-01", "2024-01-01"),
        ("'3'", "3"),
        ("=", "="),
        ("9" * 31, "9" * 31),
    ],
)
def test_scalars_follow_the_schema_of_yaml_1_2(tmp_path: Path, text: str, value: object) -> None:
    """Scalars follow the core schema of YAML 1.2."""
    found = read(tmp_path, f"a: {text}").value["a"]

    assert found == value
    assert isinstance(found, bool) == isinstance(value, bool)


def test_a_number_keeps_its_text(tmp_path: Path) -> None:
    assert read(tmp_path, "a: 1.10").value["a"].text == "1.10"
    assert read(tmp_path, "a: 010").value["a"].text == "010"


def test_keys_are_words_whatever_they_look_like(tmp_path: Path) -> None:
    assert list(read(tmp_path, "on: 1\n1: 2\n1.10: 3\n~: 4").value) == ["on", "1", "1.10", "~"]


def test_aliases_and_merged_mappings_are_written_out(tmp_path: Path) -> None:
    found = read(tmp_path, "base: &base {a: 1, b: 2}\nx: *base\ny: {<<: *base, b: 3}\nz: {<<: [*base, {c: 4}]}\n")

    assert found.value["x"] == {"a": 1, "b": 2}
    assert found.value["y"] == {"a": 1, "b": 3}
    assert found.value["z"] == {"a": 1, "b": 2, "c": 4}
    assert found.mistakes == ()


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("a: 1\na: 2\n", "2:1: duplicate key 'a'; the first is on line 1"),
        ("x: {a: 1, b: 1, a: 2}\n", "1:17: x: duplicate key 'a'; the first is on line 1"),
        ("? [1, 2]\n: 3\n", "1:3: a key must be a word, not a list or a mapping"),
        ("a: !!binary aGk=\n", "1:4: a: tags such as '!!binary' mean nothing here"),
        ("a: !!python/name:os.system\n", "1:4: a: tags such as '!!python/name:os.system' mean nothing here"),
        ("a: {<<: 3}\n", "1:9: a: '<<' merges a mapping; this is none"),
        ("b: &b {<<: &c {d: 1}}\na: {<<: *b}\n", "1:8: a: '<<' within a merged mapping; write its keys out"),
    ],
)  # fmt: skip
def test_disallowed_yaml_features_are_mistakes(tmp_path: Path, text: str, mistake: str) -> None:
    """Features that YAML allows and we do not are mistakes."""
    found = read(tmp_path, text)

    assert [each.at("f").removeprefix("f:") for each in found.mistakes] == [mistake]


@pytest.mark.parametrize(
    ("content", "start"),
    [
        ("", "f.yaml:1:1: the file is empty"),
        ("# only a comment\n", "f.yaml:1:1: the file is empty"),
        ("a: [1\n", "f.yaml:2:1: not YAML: expected ',' or ']'"),
        ("a:\n\t- 1\n", "f.yaml:2:1: not YAML: a tab; YAML is indented with spaces only"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2:1: not YAML: but found another document"),
        ("a: *nothing\n", "f.yaml:1:4: not YAML: found undefined alias"),
        ('a: "\\UFFFFFFFF"\n', "f.yaml:1:1: not YAML:"),
        (b"a: \xff\xfe\n", "f.yaml:1:4: byte 0xff is not UTF-8; save the file as UTF-8"),
        (b"ab: 1\nc: \xe9\n", "f.yaml:2:4: byte 0xe9 is not UTF-8"),
        ("a: \x00\n", "f.yaml:1:4: not YAML: the character 0x0 is not allowed"),
        ("a: " + "[" * 5000, "f.yaml:1:"),
        ("a: &a [*a]\n", "f.yaml:1:4: aliases expand beyond"),
        ("x" * 300_000, "f.yaml: is larger than 256 KiB"),
    ],
)
def test_what_cannot_be_read_is_one_clear_error(tmp_path: Path, content: str | bytes, start: str) -> None:
    assert refusal(tmp_path, content).startswith(start)


def test_an_alias_bomb_is_refused_early(tmp_path: Path) -> None:
    """A bomb of aliases is refused before it grows."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]

    assert "aliases expand beyond 50000 values" in refusal(tmp_path, "\n".join(lines))


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    """A byte order mark is no part of the file."""
    assert read(tmp_path, b"\xef\xbb\xbfa: 1\n").value == {"a": 1}


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for path, end in ((tmp_path / "none.yaml", "none.yaml: no such file"), (tmp_path, ": is a folder, not a file")):
        with pytest.raises(InputError) as caught:
            source.read(path, "file")
        assert str(caught.value).endswith(end)


def test_a_null_byte_in_a_path_is_reported() -> None:
    """A path with a null byte is an error like any other."""
    with pytest.raises(InputError, match="cannot be read"):
        source.read(Path("a\0b"), "file")
