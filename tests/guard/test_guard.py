"""The output of every reading command on the stored runs, and the plans and requests of every matrix: as before.

`tests/guard/README.md` says what this guards, and how a case is added.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.guard import guard_adapters as adapters
from tests.guard.guard_cases import CORPUS, EXPECTED, MATRICES, PAGES, WIDE, Case, cases
from tests.guard.guard_compare import MOST_DIFFERENCES, Sentences, differences, page_text

ADD = os.environ.get("ADD_TO_GUARD") == "1"
"""True if outputs that are not stored yet are written; stored ones are never changed."""
ROOT = Path(__file__).parents[2]
CASES = cases()
TRIALS = sorted(
    path.parent
    for path in CORPUS.glob("regressions*/*/regression.json")
    if json.loads(path.read_text(encoding="utf-8"))["complete"]
)
"""Regression tests that have come to their end."""
REQUESTS = [(matrix, pinned) for matrix in MATRICES for pinned in (True, False)]


def sentences() -> Sentences:
    found: Sentences = yaml.safe_load((Path(__file__).parent / "sentences.yaml").read_text(encoding="utf-8"))
    return found


SENTENCES = sentences()


def compare(stored: Path, kind: str, said: str) -> None:
    """Fail with what differs from a stored file; where there is none, write it if that is asked for."""
    if not stored.exists():
        if not ADD:
            pytest.fail(f"{stored} is not stored; ADD_TO_GUARD=1 writes it, and nothing else")
        stored.parent.mkdir(parents=True, exist_ok=True)
        stored.write_bytes(said.encode())
    found = differences(kind, stored.read_bytes().decode(), said, SENTENCES)
    if found:
        more = [f"and {len(found) - MOST_DIFFERENCES} more"] if len(found) > MOST_DIFFERENCES else []
        pytest.fail("\n".join([f"{stored.relative_to(EXPECTED)}:", *found[:MOST_DIFFERENCES], *more]), pytrace=False)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Case], Path]:
    """The folder in which a case runs: beside a copy of its part of the corpus, which the cases of that part share."""
    made: dict[tuple[str, str], Path] = {}

    def place_of(case: Case) -> Path:
        key = case.folder, case.at
        if key not in made:
            made[key] = tmp_path_factory.mktemp(case.folder.replace("/", "-"))
            shutil.copytree(CORPUS / case.folder, made[key] / case.at, dirs_exist_ok=True)
        return made[key]

    return place_of


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_command_says_what_it_said(case: Case, place: Callable[[Case], Path]) -> None:
    folder = place(case)
    for name in (PAGES, adapters.CACHE):
        shutil.rmtree(folder / name, ignore_errors=True)
    with adapters.surroundings(folder, case.columns):
        status, out, errors = adapters.command(case.arguments)

    compare(case.ending, "text", without_places(f"exit {status}\n{errors}", folder))
    answer = "".join(pages(folder / PAGES)) if case.kind == "page" else out
    compare(case.answer, case.kind, without_places(answer, folder))


def without_places(text: str, folder: Path) -> str:
    """A text in which neither the folder of a case nor that of the program is named."""
    return text.replace(str(folder), "HERE").replace(str(ROOT), "ROOT")


def pages(folder: Path) -> Iterator[str]:
    """The text of every page below a folder, by name."""
    for path in sorted(folder.rglob("*.html")):
        yield f"=== {path.relative_to(folder).as_posix()}\n{page_text(path.read_text(encoding='utf-8'))}"


@pytest.fixture(scope="module")
def matrices(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the matrices of the corpus, each of which is planned once."""
    return Path(shutil.copytree(CORPUS / "matrices", tmp_path_factory.mktemp("place") / "matrices"))


@pytest.mark.parametrize(("matrix", "pinned"), REQUESTS)
def test_a_matrix_asks_what_it_asked(matrix: str, pinned: bool, matrices: Path, tmp_path: Path) -> None:
    """The request of every repeat and every parity check, where the runtime pins CPUs and where it does not."""
    with adapters.surroundings(matrices, WIDE):
        found = adapters.requests(Path(f"{matrix}.yaml"), tmp_path / "run", pinned=pinned)

    name = "pinned" if pinned else "free"
    compare(EXPECTED / "requests" / f"{matrix}-{name}.json", "json", json.dumps(without_repetition(found)) + "\n")


def without_repetition(requests: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Requests by path: the first whole, and of every other one what is not as in the one before it."""
    found, before = {}, dict[str, Any]()
    for path, request in requests.items():
        changed = {key: value for key, value in request.items() if key not in before or before[key] != value}
        gone = [key for key in before if key not in request]
        found[path] = changed | ({"without": gone} if gone else {})
        before = request
    return found


@pytest.mark.parametrize("matrix", ["all", "axes", "own"])
def test_environment_is_made_as_it_was(matrix: str, matrices: Path) -> None:
    """All below the measuring side: the layer whose name and text no redesign may change."""
    with adapters.surroundings(matrices, WIDE):
        found = adapters.environment_layers(Path(f"{matrix}.yaml"))

    compare(EXPECTED / "environments" / f"{matrix}.json", "json", json.dumps(without_repetition(found)) + "\n")


@pytest.mark.parametrize("kind", ["nights", "searches"])
def test_nights_and_searches_are_shown_as_before(kind: str, tmp_path: Path) -> None:
    """Stored nights and searches are shown as they were."""
    source = {"nights": "nightly", "searches": "searches"}[kind]
    shutil.copytree(CORPUS / source, tmp_path / source)
    found = adapters.nights(tmp_path / source) if kind == "nights" else adapters.searches(tmp_path / source, WIDE)

    for name, text in found.items():
        form = name.rpartition(".")[2]
        if form == "html":
            compare(EXPECTED / kind / f"{name}.txt", "text", page_text(text))
        else:
            compare(EXPECTED / kind / name, {"json": "json", "xml": "junit"}.get(form, "text"), text)


@pytest.mark.parametrize("run", TRIALS, ids=lambda run: run.name)
def test_regression_test_comes_to_its_old_verdict(run: Path, tmp_path: Path) -> None:
    """Judged anew from the files of its run, without a look at the verdicts that are stored beside them."""
    shutil.copytree(run, tmp_path / run.name)
    (tmp_path / run.name / "regression.json").unlink()

    with adapters.surroundings(tmp_path, WIDE):
        found = adapters.judged_again(tmp_path / run.name)

    stored = (run / "regression.json").read_text(encoding="utf-8")
    said = differences("json", stored, json.dumps(found), SENTENCES)
    assert said == []


@pytest.mark.parametrize("run", TRIALS, ids=lambda run: run.name)
def test_a_release_is_judged_as_it_was(run: Path) -> None:
    found = adapters.judgement(run, CORPUS / "nights" / "acknowledged.yaml")

    compare(EXPECTED / "judgements" / f"{run.name}.json", "json", json.dumps(found, indent=1, default=dict) + "\n")


def test_every_stored_answer_belongs_to_a_case() -> None:
    """An answer that nothing is compared with guards nothing."""
    known = {path for case in CASES for path in (case.answer, case.ending)}
    others = {EXPECTED / name for name in ("requests", "environments", "nights", "searches", "judgements")}
    stored = {path for path in EXPECTED.rglob("*") if path.is_file()}

    assert {path for path in stored - known if path.parent not in others} == set()
    assert len({case.id for case in CASES}) == len(CASES)
