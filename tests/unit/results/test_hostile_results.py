"""A `result.json` may hold anything: it is valid, or `invalid_result` with one line, and every report lives."""

import copy
import json
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from orchestrator.devices.disturbance import judge
from orchestrator.domain import Outcome, Status
from orchestrator.reporting.findings.compose import report as read_report
from orchestrator.reporting.formats import formats_of, render
from orchestrator.reporting.formats.terminal import shown
from orchestrator.reporting.reports.run import RUN
from orchestrator.results.container_answers import MAX_RESULT_VALUES, InvalidResultError, read_result
from orchestrator.results.contract import Result
from orchestrator.results.listing import index
from orchestrator.results.store import Run
from orchestrator.results.throughput import throughput
from tests.effort import examples
from tests.unit.reporting import synthetic

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "contract" / "result.json").read_text())
CELLS = [synthetic.cell(synthetic.TORCH, repeats=2), synthetic.cell(synthetic.MXNET, repeats=2)]
QUICK = settings(max_examples=examples(200), derandomize=True, database=None, suppress_health_check=list(HealthCheck))
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 10**15, 2**60, 10**40, 0.0, -0.0, 5e-324, 1e-9, 1e9, 1e300, -1e300, 1e308),
    *(
        "",
        "x",
        "\x1b[31mred",
        "\x1b]0;title\x07",
        "\u202etxt",
        "=cmd()",
        "<script>",
        "|",
        "`",
        "\r\n",
        "x" * 5000,
        "\ud800",
    ),
    *([], {}, [[]], [{}], {"": {}}, {"a": {"b": [1, {"c": None}]}}, ["a", 1, None], float("nan"), float("inf")),
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run whose first repeat is about to be answered."""
    made = Run(tmp_path_factory.mktemp("results") / "20260102T030405Z-abcd")
    made.write_record(synthetic.record(synthetic.plan(CELLS), made.name))
    for cell in CELLS:
        made.write_outcome(Outcome(cell.id, 0, Status.OK, log=f"{cell.id}/0/log.txt", wall_s=1.0))
        (made.repeat_folder(cell.id, 0) / "result.json").write_text(json.dumps(GOLDEN))
    return made


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a document: what holds it, and the key there."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place for key in keys for place in ((value, key), *places(value[key]))]


def mutated(generator: random.Random) -> bytes:
    """The golden result with one to three values exchanged, keys dropped or added, or bytes flipped."""
    document = copy.deepcopy(GOLDEN)
    for _ in range(generator.randint(1, 3)):
        holder, key = generator.choice(places(document))
        match generator.randrange(5):
            case 0 if isinstance(holder, dict):
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[generator.choice(("x", "", "conditions", "epochs", "\x1b[1m"))] = generator.choice(VALUES)
            case 2 if isinstance(holder, list):
                holder.extend(holder * 2)
            case _:
                holder[key] = generator.choice(VALUES)
    text = json.dumps(document).encode()
    if generator.random() < 0.2:
        place = generator.randrange(len(text))
        text = text[:place] + generator.choice((b"", b"\xff", b"1e999", b"[" * 500, b"\x00", b'"')) + text[place + 1 :]
    return text


def every_format(run: Run) -> list[str]:
    """The run in every format that there is."""
    report = read_report(run)
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    with console.capture() as captured:
        console.print(shown(RUN, report))
    console.file.close()
    return [*(render(RUN, report, name) for name in formats_of(RUN)), captured.get()]


@QUICK
@given(generator=st.randoms(use_true_random=False))
def test_mutated_result_is_refused_or_usable(run: Run, generator: random.Random) -> None:
    """A mutated result is refused in one line or has figures."""
    path = run.repeat_folder(CELLS[0].id, 1) / "result.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(mutated(generator))
    try:
        result = read_result(path)
    except InvalidResultError as error:
        assert "\n" not in str(error)  # noqa: PT017 -- it may as well be valid
        return
    assert throughput(result, epochs=False) > 0
    judge(result)


@settings(QUICK, max_examples=examples(25))
@given(generator=st.randoms(use_true_random=False))
def test_any_valid_result_serves_every_report(run: Run, generator: random.Random) -> None:
    """A result of any facts and figures serves every report."""
    document = copy.deepcopy(GOLDEN)
    for _ in range(3):
        holder, key = generator.choice(places(document["facts"]))
        holder[key] = generator.choice(VALUES[:-3])
    document["facts"][generator.choice(("versions", "cpu", "gpus", "threads", "data"))] = generator.choice(VALUES[:-3])
    document["blocks"][0]["wall_s"] = generator.choice((1e-9, 1.0, 1e9))
    document["latency_s"] = generator.choice(([], [1e-9] * 3, [1e9]))
    document["memory"]["peak_rss_bytes"] = generator.choice((0, 2**60))
    text = json.dumps(document).replace("\\ud800", "")
    (run.repeat_folder(CELLS[0].id, 0) / "result.json").write_text(text)

    for shown_text in every_format(run):
        shown_text.encode()
        assert not set(shown_text) & {"\x1b", "\x07", "\x9b", "\u202e"}


@settings(QUICK, max_examples=examples(25))
@given(generator=st.randoms(use_true_random=False))
def test_mutated_outcome_is_read_or_unrecorded(
    run: Run, tmp_path_factory: pytest.TempPathFactory, generator: random.Random
) -> None:
    """A mutated outcome is read or counts as not recorded, in the index too."""
    cell = CELLS[1].id
    path = run.repeat_folder(cell, 0) / "outcome.json"
    document = json.loads(path.read_text()) if path.exists() else {}
    good = {"cell_id": cell, "repeat": 0, "status": "ok", "wall_s": 1.0, "log": f"{cell}/0/log.txt"}
    changed = (
        document
        | good
        | {generator.choice([*good, "attempts", "started_at", "exit_code", "x"]): generator.choice(VALUES)}
    )
    path.write_text(json.dumps(changed))
    cache = tmp_path_factory.getbasetemp() / "cache"

    (summary,) = index.summaries(run.folder.parent, cache)
    (recorded,) = index.recorded(run.folder.parent, cache, (run.name,))
    assert summary.planned == 4
    assert {outcome.cell_id for outcome in recorded.outcomes} <= {each.id for each in CELLS}
    for text in every_format(run):
        text.encode()
    path.write_text(json.dumps(good))


def test_the_golden_result_itself_is_one() -> None:
    assert Result.model_validate(GOLDEN)


@pytest.mark.parametrize(
    ("facts", "wrong"),
    [
        ({"x": [{}] * 10_000}, "facts: are more than 10000 values"),
        ({"x": "x" * 2**20}, "facts: are more than 1048576 bytes"),
        ({"x": json.loads("[" * 17 + "]" * 17)}, "facts: are nested more than 16 deep"),
    ],
)
def test_facts_beyond_all_bounds_make_a_result_invalid(facts: dict[str, Any], wrong: str, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(json.dumps(GOLDEN | {"facts": facts}))

    with pytest.raises(InvalidResultError, match=wrong):
        read_result(tmp_path / "result.json")


@pytest.mark.parametrize("value", ["[]", "{}", "0"])
def test_file_of_many_values_is_refused_early(value: str, tmp_path: Path) -> None:
    """A small file of very many values is refused before it is taken apart."""
    path = tmp_path / "result.json"
    path.write_text('{"facts": {"x": [' + f"{value}," * MAX_RESULT_VALUES + "0]}}")
    tracemalloc.start()
    with pytest.raises(InvalidResultError, match="holds more than 4000000 values"):
        read_result(path)
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most_bytes < 3 * path.stat().st_size
