"""Published regressions of `bench/corpus.yaml`, measured again in containers on this host's CPUs.

    python -m bench.verdicts.corpus [--only NAME …] [--pairs 24] [--keep FOLDER]

Models and operators are judged by `orchestrator regress`, which looks after 6, 12 and 24 blocks. A script is run in
both releases by `orchestrator run`, and the medians of its repeats are compared block by block by the same rule.
Nothing is tuned until it shows: an effect that a stand-in does not show is reported as that, with its interval.
With `--keep` the runs stay, and what was measured before is not measured again.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from bench.records import ROOT
from bench.verdicts import corpus_networks
from orchestrator.analysis.comparison import Verdict, compare
from orchestrator.regression.rules import BY_NAME

HERE = ROOT / "bench"
TOLERANCE = 0.02
DECIDED = (Verdict.SLOWER, Verdict.FASTER, Verdict.SAME)
ONE_CPU = {"cpu": {"cpus": 1, "memory": "4g"}}
"""The other CPU of a small host is left to its other processes."""


class Entry(BaseModel):
    """A published regression."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    baseline: str
    candidate: str
    metric: str
    """A metric of a mode, or of the script."""
    published: Annotated[float, Field(gt=0)]
    """Candidate over baseline."""
    derived: str = ""
    """The way that the ratio follows from others of the source, if it was not published itself."""
    source: str
    published_on: str
    stands_in: str
    """The part of the workload that is ours."""
    explained: str = ""
    """The reason the measured effect is what it is."""
    matrix: dict[str, Any]

    @property
    def networks(self) -> tuple[str, ...]:
        """Return the networks that are written beside the matrix."""
        models = (model for model in self.matrix.get("models", ()) if isinstance(model, dict))
        return tuple(Path(model["file"]).stem for model in models if "file" in model)

    @property
    def higher_is_better(self) -> bool:
        """Return true if a ratio below 1 is a loss."""
        for script in self.matrix.get("scripts", ()):
            return bool(script["metrics"][self.metric]["better"] == "higher")
        return BY_NAME[self.metric].higher_is_better


class Corpus(BaseModel):
    """The file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1]
    entries: tuple[Entry, ...]


Judged = Mapping[str, Any]
"""Cell, verdict, ratio, low, high, blocks and minimum detectable effect."""


def read() -> Corpus:
    """Read the file."""
    return Corpus.model_validate(yaml.safe_load((HERE / "corpus.yaml").read_text()))


def matrix_of(entry: Entry, repeats: int) -> dict[str, Any]:
    """Return the matrix of an entry, whose scripts and models are named by absolute paths."""
    own = dict(entry.matrix)
    if "scripts" in own:
        own["scripts"] = [{**script, "file": str(HERE / script["file"])} for script in own["scripts"]]
    shared = {"version": 1, "systems": ONE_CPU, "frameworks": [entry.baseline, entry.candidate], "repeats": repeats}
    return {**shared, "models_folder": str(HERE / "corpus_models"), **own}


def judged_models(entry: Entry, folder: Path, most_blocks: int) -> Iterator[Judged]:
    """Yield what `orchestrator regress` says of the metric in each pair of an entry."""
    known = sorted((folder / "results").glob("*/trial.json"))
    asked = [
        f"--file={folder / 'matrix.yaml'}", f"--baseline={entry.baseline}", f"--candidate={entry.candidate}",
        f"--metric={entry.metric}={TOLERANCE}", "--until-precise", f"--max-blocks={most_blocks}", "--runtime=docker",
    ]  # fmt: skip
    arguments = [f"--resume={known[-1].parent.name}"] if known else asked
    for pair in answered(folder, "regress", *arguments)["pairs"]:
        found = next((each for each in pair["metrics"] if each["metric"] == entry.metric), {"verdict": pair["verdict"]})
        yield {"reason": pair.get("reason", ""), **found, "cell": pair["id"].partition("/")[2]}


def judged_scripts(entry: Entry, folder: Path) -> Iterator[Judged]:
    """Yield the comparison of a script's metric in both releases, block by block."""
    known = sorted((folder / "results").glob("*/run.json"))
    arguments = ["--resume=latest"] if known else [f"--file={folder / 'matrix.yaml'}", "--runtime=docker"]
    cells = answered(folder, "run", *arguments)["cells"]
    for script in entry.matrix["scripts"]:
        sides = [_values(cells, pin, script["name"], entry.metric) for pin in (entry.baseline, entry.candidate)]
        blocks = sorted(sides[0].keys() & sides[1].keys())
        if len(blocks) < 2:
            yield {"cell": script["name"], "verdict": "not_measured", "reason": "a side has no figures"}
            continue
        one, other = ([side[block] for block in blocks] for side in sides)
        better = entry.higher_is_better
        comparison = compare(one, other, tolerance=TOLERANCE, higher_is_better=better, paired=True)
        fields = ("ratio", "low", "high", "minimum_detectable_effect")
        shown = {name: getattr(comparison, name) for name in fields}
        yield {"cell": script["name"], "verdict": str(comparison.verdict), "blocks": len(blocks), **shown}


def _values(cells: Sequence[Mapping[str, Any]], pin: str, script: str, metric: str) -> dict[int, float]:
    """Return the median of a metric in each repeat of a script that is `ok` in one release, by the repeat's number."""
    (cell,) = (each for each in cells if each["cell"]["id"] == f"{pin.replace('==', '-')}-cpu/{script}-script")
    ok = [number for number, repeat in enumerate(cell["repeats"]) if repeat["outcome"]["status"] == "ok"]
    values = [value for each in cell["printed"] if each["name"] == metric for value in each["repeats"]]
    return dict(zip(ok, values, strict=True))


def answered(folder: Path, command: str, *arguments: str) -> dict[str, Any]:
    """Return the JSON of a command."""
    own = [f"--results={folder / 'results'}", "--json"]
    ended = subprocess.run(
        [sys.executable, "-m", "orchestrator", command, *arguments, *own], stdout=subprocess.PIPE, check=False
    )
    if ended.returncode not in {0, 1}:
        raise SystemExit(f"orchestrator {command} ended with {ended.returncode}")
    document: dict[str, Any] = json.loads(ended.stdout)["data"]
    return document


def figure(entry: Entry, judged: Judged) -> dict[str, Any]:
    """Return the figure of one cell of an entry, beside what was published.

    It is within what is wanted if it is decided, or if an interval shows why it is not.
    """
    told, why = ("derived", f"{entry.derived}: ") if entry.derived else ("published", "")
    parts = [f"{told} × {entry.published:g} ({why}{entry.source}, on {entry.published_on})"]
    measured = judged.get("low") is not None
    if measured:
        interval = f"({judged['low']:.3f}–{judged['high']:.3f})"
        parts.append(f"here × {judged['ratio']:.3f} {interval}, {judged['blocks']} blocks: {judged['verdict']}")
        parts.append(agreement(entry, judged))
    else:
        parts.append(f"here {judged['verdict']}: {judged.get('reason') or 'no figures'}")
    parts += [f"here it is {entry.stands_in}", *([entry.explained] if entry.explained else [])]
    return {
        "name": f"{entry.candidate} against {entry.baseline}, {judged['cell']}",
        "entry": entry.name,
        "verdict": judged["verdict"],
        "text": "; ".join(parts),
        "wanted": "a verdict, or why the interval allows none",
        "within": judged["verdict"] in DECIDED or (judged["verdict"] == Verdict.INCONCLUSIVE and measured),
        "values": judged.get("values", []),
    }


def agreement(entry: Entry, judged: Judged) -> str:
    """Return whether what was measured agrees with what was published."""
    if entry.published == 1 and judged["verdict"] != Verdict.INCONCLUSIVE:
        return "it agrees" if judged["verdict"] == Verdict.SAME else "here the changes do not cancel"
    published_slower = (entry.published < 1) == entry.higher_is_better
    direction = Verdict.SLOWER if published_slower else Verdict.FASTER
    if judged["verdict"] == direction:
        agrees = _in_interval(entry.published, judged)
        return "it agrees, also in size" if agrees else "it agrees in direction, and is of another size"
    if judged["verdict"] == Verdict.INCONCLUSIVE:
        return _undecided(entry, judged)
    return "it is not shown by this stand-in"


def _undecided(entry: Entry, judged: Judged) -> str:
    """Return why an interval decides nothing: it is on both sides of an end of the tolerance."""
    ends = " and ".join(f"× {end:.3f}" for end in (1 / (1 + TOLERANCE), 1 + TOLERANCE) if _in_interval(end, judged))
    shown = f"a slowdown shows here from {100 * judged['minimum_detectable_effect']:.1f} % on"
    holds = "holds" if _in_interval(entry.published, judged) else "leaves out"
    published = f"the interval {holds} what was {'derived' if entry.derived else 'published'}"
    return f"not decided, as the interval holds {ends}, an end of the tolerance; {shown}; {published}"


def _in_interval(ratio: float, judged: Judged) -> bool:
    return bool(judged["low"] <= ratio <= judged["high"])


def counts(figures: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield how many figures of the corpus are decided and how many not, and the entries without figures, as lines."""
    decided = sum(each["verdict"] in DECIDED for each in figures)
    undecided = sum(each["verdict"] == Verdict.INCONCLUSIVE for each in figures)
    failed = len(figures) - decided - undecided
    yield f"Of {len(figures)} figures of published regressions, {decided} are decided, and {undecided} inconclusive."
    if failed:
        yield f"{failed} could not be measured."
    known = {each["entry"] for each in figures}
    missing = [
        f"{entry.name} ({entry.baseline} → {entry.candidate}{_derived(entry)})"
        for entry in read().entries
        if entry.name not in known
    ]
    if missing:
        yield f"Not measured yet: {'; '.join(missing)}."


def _derived(entry: Entry) -> str:
    return f"; its × {entry.published:g} is derived, not published" if entry.derived else ""


def main() -> None:
    corpus = read()
    names = [entry.name for entry in corpus.entries]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--pairs", type=int, default=24, help="blocks, at most; those of a script")
    parser.add_argument("--keep", type=Path, help="a folder to keep the runs in, and to go on in")
    options = parser.parse_args()
    figures = []
    with tempfile.TemporaryDirectory(prefix="bench-corpus-") as scratch:
        for entry in (each for each in corpus.entries if each.name in options.only):
            folder = (options.keep or Path(scratch)).absolute() / entry.name.replace(" ", "-")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "matrix.yaml").write_text(json.dumps(matrix_of(entry, options.pairs)))
            for name in entry.networks:
                corpus_networks.write(name, folder)
            is_script = "scripts" in entry.matrix
            judged = judged_scripts(entry, folder) if is_script else judged_models(entry, folder, options.pairs)
            figures += [figure(entry, each) for each in judged]
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
