"""`docs/load.md` and its parts: its matrices plan, its commands run, and its tables are complete."""

import re
import shlex
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from orchestrator.catalog import load, load_models
from orchestrator.matrix import load as load_matrix
from orchestrator.matrix.values.loads import KEYS
from orchestrator.modes.parts.early_stopping import requests_for_bound
from orchestrator.modes.parts.frontier import SIZES
from orchestrator.modes.parts.generation import GENERATION
from orchestrator.modes.parts.load import REQUESTS, Scenario
from orchestrator.modes.parts.metrics import TIMED
from orchestrator.modes.requests import GOODPUT
from orchestrator.planning import plan
from orchestrator.regression.rules import parse_gates
from orchestrator.resources import BENCHMARKS, IMAGES
from tests.documented import blocks, introduction, whole
from tests.unit.cli.conftest import Program, command  # noqa: F401 -- a fixture

PAGE = whole("load.md")
(LOAD,) = introduction("load.md", "yaml")
(TOKENS,) = blocks("load.md", "Ask for tokens", "yaml")
COMMANDS, BY_HAND = introduction("load.md", "sh")
(FOR_TOKENS,) = blocks("load.md", "Ask for tokens", "sh")
(FRONTIER,) = blocks("load.md", "The frontier", "yaml")


def planned(text: str, folder: Path) -> list[str]:
    path = folder / "m.yaml"
    path.write_text(text, encoding="utf-8")
    catalog, models = load(IMAGES / "catalog"), load_models(BENCHMARKS / "models")
    return [cell.id for cell in plan(load_matrix(path, catalog, models), catalog, models).cells]


def first_words(heading: str) -> set[str]:
    """Every word in code of the first column of the tables of a section."""
    section = re.split(rf"^## {heading}$", PAGE, flags=re.MULTILINE)[1].partition("\n## ")[0]
    return {
        word for cell in re.findall(r"^\| (.*?) \|", section, re.MULTILINE) for word in re.findall(r"`(.*?)`", cell)
    }


def test_matrix_plans_every_scenario(tmp_path: Path) -> None:
    ids = planned(LOAD, tmp_path)

    assert {scenario.value for scenario in Scenario} - {"single_stream"} == set(
        re.findall(r"scenario=(\w+)", "".join(ids))
    )
    assert any("-b1-latency_limit" in each for each in ids)


def test_matrix_of_tokens_plans_limits(tmp_path: Path) -> None:
    """Both batch sizes at both rates, each with every limit and both lengths."""
    ids = planned(TOKENS, tmp_path)

    assert len(ids) == 4
    ends = {each.partition("-latency_limit=")[2] for each in ids}
    assert ends == {"2s-first_token_limit=0.2s-per_token_limit=0.05s-prompt_length=16-output_length=16"}


def test_frontier_plans_all_of_its_sizes(tmp_path: Path) -> None:
    assert len(planned(FRONTIER, tmp_path)) == 2 * len(SIZES)
    assert "1, 2, 3, 4, 6, 8, … 192, 256" in PAGE


def test_commands_of_the_page_run(command: Program, tmp_path: Path) -> None:  # noqa: F811
    """Every command is run as it stands, with a framework that computes nothing and few requests."""
    for name, matrix in (("load", LOAD), ("answers", TOKENS)):
        text = re.sub(r"frameworks: .*", "frameworks: [noop==1]", matrix) + "repeats: 2\nsystems: {cpu: {cpus: 1}}\n"
        text = text.replace("rate: [4, 16]", "rate: [400, 1600]")
        few = re.sub("^    latency_limit", "    requests: 20\n    latency_limit", text, flags=re.MULTILINE)
        (tmp_path / f"{name}.yaml").write_text(few)
    further = {"run": ("--runtime", "host", "--idle-wait", "0", "--extra-repeats", "0")}
    for line in (*COMMANDS.splitlines(), FOR_TOKENS.splitlines()[0]):
        program, *words = shlex.split(line)
        code, out, said = command(*words, *further.get(words[0], ()))

        assert program == "orchestrator"
        assert code == 0, (line, said)
        assert out


@pytest.mark.parametrize(
    ("line", "rate"), [(BY_HAND, "rate=80"), (FOR_TOKENS.splitlines()[1], "rate=4")], ids=["samples", "tokens"]
)
def test_by_hand_the_page_is_followed(line: str, rate: str, capfd: pytest.CaptureFixture[str]) -> None:
    from benchmarks import run

    words = shlex.split(line)[3:]
    words[words.index("--framework") + 1] = "noop"
    words[words.index(rate)] = "rate=5000"

    assert run.main(words) == 0
    said = capfd.readouterr().out
    assert "answered    662 requests" in said
    assert ("first token" in said) is ("output" in line)


def test_metrics_of_the_page_decide() -> None:
    lines = [shlex.split(line) for line in blocks("load.md", "Judging it", "sh")[0].splitlines()]
    named = [word for words in lines for option, word in pairwise(words) if option == "--metric"]

    gates = [gate.metric for text in named for gate in parse_gates([text], "--metric", ())]
    assert {"goodput", "latency_p99", "throughput"} <= set(gates)


def test_tables_name_every_scenario_key_and_metric() -> None:
    assert {*(each.value for each in Scenario), *KEYS, "batch_size"} <= first_words("Scenarios")
    figures = first_words("What each figure means, and what others call it")
    memory = [metric for metric in TIMED if metric.name.startswith("peak_")]
    assert {metric.name for metric in (*GENERATION, GOODPUT, *memory)} <= figures
    assert len(memory) == 2


@pytest.mark.parametrize(
    ("text", "of"),
    [
        ("64 requests for the p90", lambda: requests_for_bound(0.9)),
        ("662 for the p99", lambda: requests_for_bound(0.99)),
        ("| `requests` | 662 |", lambda: REQUESTS),
        ("not enough requests for p99: 662 needed", lambda: requests_for_bound(0.99)),
    ],
)
def test_numbers_of_the_page_are_the_programs(text: str, of: Callable[[], int]) -> None:
    assert text in PAGE
    assert str(of()) in text
