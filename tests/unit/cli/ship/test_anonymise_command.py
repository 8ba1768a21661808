"""`anonymise`, as it is typed."""

from pathlib import Path

import onnx
import pytest

from orchestrator.analysis.comparison import compare
from orchestrator.workflows.networks import anonymise
from tests import exported
from tests.unit.cli.conftest import Program


@pytest.fixture(autouse=True)
def place(tmp_path: Path) -> Path:
    """A folder with two networks."""
    exported.saved(exported.image_network(), tmp_path / "ours.onnx")
    exported.saved(exported.text_network(), tmp_path / "words.onnx")
    exported.saved(exported.image_network(4), tmp_path / "four.onnx")
    (tmp_path / "there.onnx").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("none.onnx",), "none.onnx: 'none.onnx' cannot be read: No such file or directory"),
        (
            ("words.onnx", "--input", "mask=value:1"),
            "has a dynamic axis 'length' without a size; give it with --dimension",
        ),
        (("words.onnx", "--dimension", "length=4"), "give it with --input mask=below:N for numbers from 0"),
        (("ours.onnx", "--dimension", "length"), "--dimension length: write NAME=SIZE, such as sequence=128"),
        (
            ("ours.onnx", "--input", "mask=7"),
            "--input mask=7: write NAME=below:N or NAME=value:V, such as mask=value:1",
        ),
        (("words.onnx", "--dimension", "length=0"), "--dimension length=0: write NAME=SIZE, such as sequence=128"),
        (("words.onnx", "--dimension", "length=4", "--input", "mask=below:0"), "`below` is from 1 to"),
        (("words.onnx", "--dimension", "length=4", "--input", "mask=value:nan"), "a number as `value`, not nan"),
        (("four.onnx", "--batch-size", "8"), "--batch-size 8: the network takes batches of 4 alone; leave it out"),
        (("ours.onnx", "-o", "there.onnx"), "there.onnx: is there already; name another file with --output"),
        (("ours.onnx", "-o", "no/made.onnx"), "no: no such folder; create it first"),
        (("ours.onnx", "--engine", "torch==2.13.0"), "name an engine that runs ONNX files: onnxruntime==VERSION or"),
        (("ours.onnx", "--keep", "stm"), "ours.onnx: --keep stm: the network stores no such tensor"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(
    command: Program, place: Path, arguments: tuple[str, ...], said: str
) -> None:
    before = sorted(place.iterdir())

    ended, _, errors = command("anonymise", *arguments)

    assert (ended, len(errors.splitlines())) == (2, 1), errors
    assert said in errors
    assert sorted(place.iterdir()) == before


def test_every_tensor_is_listed_with_the_reason(command: Program, place: Path) -> None:
    ended, shown, _ = command("anonymise", "ours.onnx", "--no-speed")

    assert ended == 0
    rows = [line.split() for line in shown.splitlines()]
    assert ["stem.weight", "8×3×3×3", "replaced", "input", "1", "of", "Conv"] in rows
    assert ["flat", "2", "kept", "input", "1", "of", "Reshape"] in rows
    assert ["Conv.kernel_shape", "3,", "3", "1"] in rows
    assert "4 tensors replaced, 1 kept; 5 of 5 shapes as before" in shown
    assert "image → input_0, scores → output_0\n" in shown, "an axis that is called batch stays so"
    made = onnx.load(place / "ours-anonymous.onnx")
    assert [value.name for value in made.graph.input] == ["input_0"]


@pytest.mark.parametrize(
    ("samples", "code", "said"),
    [
        ([100.0, 100.1, 99.9, 100.0, 100.1], 0, "of the original, the same within 2% (onnxruntime=="),
        ([90.0, 90.1, 89.9, 90.0, 90.1], 1, "of the original, slower within 2%"),
        ([90.0, 110.0, 100.0, 95.0, 105.0], 1, "not decided; take more --repeats on an idle host within 2%"),
        ([], 1, "speed: not measured (onnxruntime=="),
    ],
)
def test_the_speed_decides_the_status(
    command: Program, monkeypatch: pytest.MonkeyPatch, samples: list[float], code: int, said: str
) -> None:
    rule = {"tolerance": anonymise.TOLERANCE, "higher_is_better": True, "confidence": 0.95, "equivalence": 0.05}
    speed = compare([100.0] * 5, samples, paired=True, **rule) if samples else None  # type: ignore[arg-type]
    monkeypatch.setattr(anonymise, "_speed", lambda *_: ("20261127T000000Z-abcd", speed))

    ended, shown, _ = command("anonymise", "ours.onnx")

    assert ended == code
    assert said in " ".join(shown.split())
