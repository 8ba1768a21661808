"""`compare` on the command line, of runs that were stored before."""

import json
from pathlib import Path

import pytest

from orchestrator.domain import Framework
from orchestrator.results.results_folder import runs
from orchestrator.results.store import Run
from tests.envelopes import data_of
from tests.unit.cli.conftest import Program
from tests.unit.regression.stored_runs.measured_runs import NEW, OLD, Made, stored


@pytest.mark.usefixtures("matrix")
def test_runs_that_cannot_be_compared_are_refused(command: Program, tmp_path: Path) -> None:
    command("run", "--runtime", "host", "--idle-wait", "0", "--repeats", "2", "--extra-repeats", "0")
    (one,) = runs(tmp_path / "results")
    other = Run(tmp_path / "results" / "20990101T000000Z-ffff")
    record = one.record()
    other.write_record(record.model_copy(update={"run": other.name, "host": {**record.host, "cpu": "another CPU"}}))

    refusals = {
        (one.name, other.name): "cannot be compared: CPU",
        (one.name, f"{one.name}:mxnet==1.9.1"): "no such cells in the plan; there is noop 1",
        (f"{one.name},{one.name}", other.name): "is given twice; a run counts once",
        (f"{one.name}:", other.name): "name runs, as in RUN, RUN,RUN or RUN:mxnet==1.5.1",
        (f"{one.name}:baseline", one.name): "is no regression test",
        (one.name,): "has no regression.json",
        (f"{one.name}:noop==1",): f"give B too, as in {one.name}:baseline {one.name}:candidate",
        (f"{one.name}:baseline", "--metric", "throughput"): "give B too, as in",
        ("A,B",): "'A,B': give B too, as in A,B:baseline A,B:candidate",
        ("",): "'': name runs, as in RUN",
        (one.name, ""): "'': name runs, as in RUN",
        (":baseline", one.name): "':baseline': name runs, as in RUN",
        ("A:",): "'A:': name runs, as in RUN",
        (",",): "',': name runs, as in RUN",
        (one.name, one.name, "--format", "html"): "--format html needs -o DIR",
        (one.name, "--metric", "throughput", "--format", "html"): "--format html needs -o DIR",
        ("nowhere", one.name): "no run 'nowhere'",
    }
    for arguments, said in refusals.items():
        code, out, error = command("compare", *arguments)
        assert (code, out) == (2, ""), arguments
        assert said in error


def test_compare_ends_with_1_where_something_got_worse(command: Program, tmp_path: Path) -> None:
    run = stored(tmp_path / "results", 1, Made(OLD, (100, 100.1)), Made(NEW, (90, 90.1)))
    sides = "latest:mxnet==1.5.1", "latest:mxnet==1.9.1"

    code, shown, said = command("compare", *sides, "--json")
    assert (code, data_of(shown)["run"]) == (1, "run-1:mxnet==1.5.1 run-1:mxnet==1.9.1"), said
    assert command("compare", *reversed(sides))[0] == 0
    (run.folder / "regression.json").write_text(json.dumps(data_of(shown)))
    assert command("compare", "latest")[0] == 1


def test_compare_of_whole_runs_leaves_noop_out(command: Program, tmp_path: Path) -> None:
    noop = Framework("noop", "1", python="3.11")
    for night, rate in ((1, 1000), (2, 500)):
        stored(tmp_path / "results", night, Made(noop, (rate, rate + 0.1)))

    code, shown, said = command("compare", "run-1", "run-2", "--json")
    (pair,) = data_of(shown)["pairs"]
    assert (code, pair["verdict"], pair["reason"]) == (0, "not comparable", "computes nothing"), said
    assert "not shown to be as good" not in command("compare", "run-1", "run-2")[1]
    assert command("compare", "run-1:noop==1", "run-2:noop==1")[0] == 1


@pytest.mark.usefixtures("matrix")
def test_several_runs_of_each_side_show_both_scatters(command: Program, tmp_path: Path) -> None:
    for _ in range(4):
        command("run", "--runtime", "host", "--idle-wait", "0", "--repeats", "2", "--extra-repeats", "0")
    names = [run.name for run in runs(tmp_path / "results")]

    single = command("compare", f"{names[0]}:noop==1", f"{names[1]}:noop==1")[1]
    both = (f"{','.join(half)}:noop==1" for half in (names[:2], names[2:]))
    several = data_of(command("compare", *both, "--json")[1])

    assert "One run each: what differs from run to run is in no interval" in " ".join(single.split())
    assert "beyond what that explains: not known" in " ".join(single.split())
    nights = several["pairs"][0]["metrics"][0]["nights"]
    assert (several["design"], nights["baseline"], nights["candidate"]) == ("nights", 2, 2)
    assert nights["within"] > 0
    assert nights["between"] >= 0
