"""Every command line that the guard replays: what it reads, and as what its answer is compared."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
EXPECTED = Path(__file__).parent / "expected"
SUFFIXES = {"json": "json", "csv": "csv", "junit": "xml", "text": "txt", "page": "txt"}
WIDE, NARROW = 120, 80
PAGES = "pages"
"""The folder of a case's pages, beside the results."""


@dataclass(frozen=True, slots=True)
class Case:
    """One command line on one folder of the corpus, which lies beside it as `results` unless it says otherwise."""

    folder: str
    """Of the corpus."""
    name: str
    arguments: tuple[str, ...]
    kind: str = "text"
    """The format that stdout is compared in: `json`, `csv`, `junit`, `text`; `page`: text of the pages in `PAGES`."""
    columns: int = WIDE
    at: str = "results"
    """The folder's place, below the one that the command runs in."""

    @property
    def id(self) -> str:
        """Its name among all, and that of its files below `expected`."""
        return f"{self.folder}/{self.name.replace(' ', '-')}"

    @property
    def answer(self) -> Path:
        """The stored text of stdout, or of the pages."""
        return EXPECTED / f"{self.id}.{SUFFIXES[self.kind]}"

    @property
    def ending(self) -> Path:
        """The stored exit status and stderr."""
        return EXPECTED / f"{self.id}.end"


def cases() -> tuple[Case, ...]:
    """All of them; their names are unique."""
    return tuple(_all())


def _all() -> Iterator[Case]:
    yield from _reports()
    yield from _listings()
    yield from _comparisons()
    yield from _histories()
    yield from _plans()
    yield from _catalog()
    yield from _others()
    yield from _disagreements()


# Reports -------------------------------------------------------------------------------------------------------------

FORMS = (("md", "text"), ("csv", "csv"), ("json", "json"), ("junit", "junit"))
RUNS = {
    "outcomes": ("20260102", "20260103", "20260104", "20260105", "20260106"),
    "work": ("20260107", "20260108", "20260109"),
    "parity": ("20260111",),
    "scripts": ("20260110",),
    "hosts": ("20260204",),
    "older": ("20251201", "20251202"),
    "regressions": ("20260314", "20260323", "20260331"),
    "measured": ("20261122T234123Z", "20261122T234154Z", "20261122T234202Z"),
    "nights": ("20260405",),
}
"""The runs of which a report is made in every form, by the beginning of their names."""


def _in_every_form(folder: str, name: str, *runs: str, tables: Sequence[int] = (WIDE, NARROW)) -> Iterator[Case]:
    for columns in tables:
        yield Case(folder, f"{name} table {columns}", ("report", *runs), columns=columns)
    for form, kind in FORMS:
        yield Case(folder, f"{name} {form}", ("report", *runs, "--format", form), kind)
    yield Case(folder, f"{name} html", ("report", *runs, "--format", "html", "-o", PAGES), "page")


def _reports() -> Iterator[Case]:
    for folder, runs in RUNS.items():
        for run in runs:
            yield from _in_every_form(folder, f"report {run}", run)
        if len(runs) > 1 and folder != "regressions":
            yield from _in_every_form(folder, "report all", "--all")
    yield from _in_every_form("hosts", "report all", "--all")
    yield from _in_every_form("hosts", "report two", "20260201", "20260202", tables=(WIDE,))
    yield Case("hosts", "report again", ("report", "20260201", "20260203", "--json"), "json")
    yield Case("hosts", "report other order", ("report", "20260202", "20260201", "--json"), "json")
    yield Case("records", "report latest", ("report",))
    yield Case("records", "report all", ("report", "--all"))
    yield Case("records", "report sound", ("report", "20260101T000000Z-0001", "--json"), "json")
    yield Case("records", "report torn environments", ("report", "20260101T000000Z-0000", "--json"), "json")
    yield Case("records", "report broken", ("report", "20260101T000000Z-0002"))
    yield Case("records", "report newer", ("report", "20260101T000000Z-0003"))
    yield Case("records", "report no plan", ("report", "20260101T000000Z-0004"))
    yield Case("outcomes", "report latest", ("report",))
    yield from _in_every_form("regressions", "report two", "20260301", "20260302", tables=(WIDE,))
    yield Case("outcomes", "report unknown", ("report", "2027"))
    yield Case("outcomes", "report several", ("report", "2026"))
    yield Case("outcomes", "report twice", ("report", "--json", "--format", "csv"))


# Lists ---------------------------------------------------------------------------------------------------------------

RESULTS = ("outcomes", "records", "work", "scripts", "hosts", "older", "regressions", "nights", "measured")
CELLS = {
    "outcomes": (
        ("20260102", "mxnet-1.9.1-cpu/lenet-train-b200"), ("20260103", "torch-3.1.0-cpu/lenet-train-b200"),
        ("20260104", "fake-1-cpu/lenet-train-b10"), ("20260104", "fake-1-cpu/lenet-train-b30"),
        ("20260105", "mxnet-1.9.1-cpu/lenet-train-b200"), ("20260106", "torch-2.0.0-cpu/lenet-train-b200"),
        ("20260106", "torch-2.1.0-cpu/lenet-train-b200"), ("20260106", "torch-2.4.0-cpu/lenet-train-b200"),
    ),
    "work": (("20260109", "tensorflow-2.21.0-cpu/lenet-train-b50-dataset=signs"),),
    "scripts": (
        ("20260110", "torch-2.13.0-cpu/word-lm-script"), ("20260110", "tensorflow-2.21.0-cpu/word-lm-script"),
    ),
    "older": (("20251201", "torch-2.13.0-cpu/lenet-train-b200"),),
    "hosts": (("20260204", "torch-2.13.0-4_gpu/lenet-train-b200"),),
    "measured": (
        ("20261122T234123Z", "noop-1-cpu/matmul-script"), ("20261122T234123Z", "noop-1-cpu/lenet-train-b200"),
    ),
}  # fmt: skip


def _listings() -> Iterator[Case]:
    for folder in RESULTS:
        yield Case(folder, "runs", ("runs",))
        yield Case(folder, "runs json", ("runs", "--json"), "json")
        yield Case(folder, "show latest", ("show",))
        yield Case(folder, "show latest json", ("show", "--json"), "json")
        for run in RUNS.get(folder, ()):
            yield Case(folder, f"show {run}", ("show", run))
            yield Case(folder, f"show {run} json", ("show", run, "--json"), "json")
        for number, (run, cell) in enumerate(CELLS.get(folder, ())):
            yield Case(folder, f"show cell {number} {run}", ("show", run, cell))
            yield Case(folder, f"show cell {number} {run} json", ("show", run, cell, "--json"), "json")
    yield Case("outcomes", "runs narrow", ("runs",), columns=NARROW)
    yield Case("outcomes", "show narrow", ("show", "20260103"), columns=NARROW)
    yield Case("records", "show broken", ("show", "20260101T000000Z-0002"))
    yield Case("records", "show broken json", ("show", "20260101T000000Z-0002", "--json"), "json")
    yield Case("outcomes", "show cell of the latest", ("show", "mxnet-1.9.1-cpu/lenet-train-b200"))
    yield Case("outcomes", "show unknown cell", ("show", "20260102", "mxnet-1.9.1-cpu/nothing"))
    yield Case("outcomes", "show unknown run", ("show", "mxnet"))
    yield Case("outcomes", "runs of nothing", ("runs", "--results", "nowhere"))


# Regressions ---------------------------------------------------------------------------------------------------------


def _comparisons() -> Iterator[Case]:
    tests = sorted(path.name for path in (CORPUS / "regressions").iterdir())
    for run in tests:
        name = run.rpartition("-")[2]
        yield Case("regressions", f"compare {name}", ("compare", run))
        yield Case("regressions", f"compare {name} json", ("compare", run, "--json"), "json")
        sides = (f"{run}:baseline", f"{run}:candidate")
        yield Case("regressions", f"sides {name} json", ("compare", *sides, "--json"), "json")
    for name, run in ((each.rpartition("-")[2], each) for each in tests):
        if name in {"slower", "broke", "edge", "metrics", "stopped", "drift"}:
            yield Case("regressions", f"compare {name} narrow", ("compare", run), columns=NARROW)
            yield Case("regressions", f"compare {name} md", ("compare", run, "--format", "md"))
            yield Case("regressions", f"compare {name} junit", ("compare", run, "--format", "junit"), "junit")
            yield Case("regressions", f"compare {name} html", ("compare", run, "--format", "html", "-o", PAGES), "page")
            anew = ("compare", run, "--metric", "throughput=20%", "--metric", "image_size", "--json")
            yield Case("regressions", f"compare {name} by other metrics", anew, "json")
    for run in sorted(path.name for path in (CORPUS / "regressions-in-parts").iterdir()):
        yield from _compared("regressions-in-parts", run.rpartition("-")[2], run)
    both = ("20260301T030405Z-slower", "20260303T030405Z-faster")
    yield from _compared("regressions", "runs", *both)
    yield from _compared("regressions", "nights", f"{both[0]},{both[1]}:baseline", f"{both[0]},{both[1]}:candidate")
    yield from _compared("nights", "one night", "20260408:mxnet==1.4.1", "20260408:mxnet==1.6.0")
    ones = "20260408,20260409,20260410,20260411"
    yield from _compared("nights", "same nights", f"{ones}:mxnet==1.4.1", f"{ones}:mxnet==1.6.0", forms=True)
    yield from _compared("nights", "other nights", f"{ones}:mxnet==1.6.0", "20260415,20260416:mxnet==1.9.1", forms=True)
    yield from _compared("nights", "silent night", "20260404,20260405:mxnet==1.4.1", "20260404,20260405:mxnet==1.5.1")
    yield from _compared("nights", "other CPU", "20260402,20260406:mxnet==1.4.1", "20260406,20260407:mxnet==1.5.1")
    yield from _compared("nights", "whole runs", "20260406", "20260408")
    yield from _compared("nights", "slower host", "20260416", "20260418")
    yield from _compared(
        "nights", "by metrics", "20260410", "20260412", "--metric", "loss=0.00001%", "--metric", "latency_p99"
    )
    yield from _compared("nights", "twice", "20260410,20260410", "20260412")
    yield from _compared_work()
    yield from _compared("parity", "evidence", "20260111:torch==2.13.0", "20260111:mxnet==1.9.1")
    yield from _compared("outcomes", "with failures", "20260103:torch==2.0.0", "20260103:torch==3.1.0")
    yield from _compared("outcomes", "disturbed", "20260104", "20260104")
    yield from _compared("outcomes", "rotten", "20260106:torch==2.0.0", "20260106:torch==2.5.0")
    yield from _compared("outcomes", "stopped", "20260105:mxnet==1.9.1", "20260105:tensorflow==2.21.0")
    yield from _compared("hosts", "other host", "20260201", "20260202")
    yield from _compared("hosts", "same host", "20260201", "20260203", forms=True)
    yield from _compared("hosts", "other runtime", "20260202", "20260205")
    yield from _compared("older", "older", "20251201:torch==2.13.0", "20251201:mxnet==1.9.1")
    yield from _compared("scripts", "scripts", "20260110:torch==2.13.0", "20260110:mxnet==1.9.1")
    yield from _compared("measured", "measured", "20261122T234123Z", "20261122T234154Z")
    yield from _compared("measured", "stored", "20261122T234154Z")


def _compared_work() -> Iterator[Case]:
    yield from _compared("work", "both meant", "20260107:torch==2.13.0", "20260107:tensorflow==2.21.0")
    yield from _compared("work", "unlike options", "20260107:torch==2.12.0", "20260107:mxnet==1.9.1")
    work = "20260107:tensorflow==2.21.0"
    yield from _compared("work", "same work", "20260107:torch==2.13.0,numpy==2.0.0", work)
    yield from _compared("work", "other work", work, "20260107:torch==2.8.0", forms=True)
    yield from _compared("work", "failed check", work, "20260107:torch==2.12.0", "--metric", "loss")
    yield from _compared("work", "missing check", work, "20260107:torch==2.11.0", "--metric", "latency_p50")
    yield from _compared("work", "rotten check", work, "20260107:torch==2.10.0", "--metric", "loss")
    yield from _compared("work", "newer check", work, "20260107:torch==2.9.0", "--metric", "cold_start")
    yield from _compared("work", "parity not asked", "20260108", "20260108")
    yield from _compared("work", "noop", "20260107:noop==1", "20260107:noop==1")
    yield from _compared("work", "itself", "20260107", "20260107")
    yield from _compared(
        "work", "accuracy", "20260109:torch==2.13.0", "20260109:tensorflow==2.21.0", "--metric", "accuracy"
    )


def _compared(folder: str, name: str, *arguments: str, forms: bool = False) -> Iterator[Case]:
    yield Case(folder, f"compare {name}", ("compare", *arguments))
    yield Case(folder, f"compare {name} json", ("compare", *arguments, "--json"), "json")
    if forms:
        yield Case(folder, f"compare {name} narrow", ("compare", *arguments), columns=NARROW)
        yield Case(folder, f"compare {name} md", ("compare", *arguments, "--format", "md"))
        yield Case(folder, f"compare {name} junit", ("compare", *arguments, "--format", "junit"), "junit")
        yield Case(folder, f"compare {name} html", ("compare", *arguments, "--format", "html", "-o", PAGES), "page")


# Histories -----------------------------------------------------------------------------------------------------------


def _histories() -> Iterator[Case]:
    known = ("--acknowledged", "results/acknowledged.yaml")
    for name, more in (
        ("", ()),
        (" all metrics", ("--metric", "all", "--by-release")),
        (" acknowledged", known),
        (" small effects", ("--min-effect", "0.005")),
        (" selected", ("--select", "mxnet-1.4.1-*", "--by-release")),
        (" unknown", ("--select", "nothing*")),
        (" unknown host", ("--host", "nowhere")),
        (" unknown metric", ("--metric", "speed")),
    ):
        yield Case("nights", f"history{name}", ("history", "-o", PAGES, *more))
        yield Case("nights", f"history{name} json", ("history", "-o", PAGES, "--json", *more), "json")
    yield Case("nights", "history html", ("history", "-o", PAGES, *known), "page")
    for folder in ("outcomes", "records", "work", "scripts", "hosts", "older", "regressions", "measured"):
        history = ("history", "-o", PAGES, "--by-release", *(() if folder == "regressions" else ("--metric", "all")))
        yield Case(folder, "history", history)
        yield Case(folder, "history json", (*history, "--json"), "json")


# Plans ---------------------------------------------------------------------------------------------------------------

MATRICES = ("default", "axes", "own", "all")


def _plans() -> Iterator[Case]:
    for matrix in MATRICES:
        plan = ("plan", "-f", f"{matrix}.yaml")
        yield Case("matrices", f"plan {matrix}", plan, at=".")
        yield Case("matrices", f"plan {matrix} json", (*plan, "--json"), "json", at=".")
        yield Case("matrices", f"plan {matrix} long", (*plan, "--long"), at=".")
        yield Case("matrices", f"plan {matrix} long json", (*plan, "--long", "--json"), "json", at=".")
    axes = ("plan", "-f", "axes.yaml", "--json")
    selected = ("--select", "mxnet-*/lenet-*", "--exclude", "*-4_gpu/*")
    yield Case("matrices", "plan selected", (*axes, *selected), "json", at=".")
    yield Case("matrices", "plan selects nothing", (*axes, "--select", "caffe-*"), at=".")
    yield Case("matrices", "plan limited", (*axes, "--limit", "10"), at=".")
    yield Case(
        "matrices", "plan without parity", ("plan", "-f", "default.yaml", "--no-parity", "--json"), "json", at="."
    )
    yield Case("matrices", "plan strict", ("plan", "-f", "all.yaml", "--strict"), at=".")
    yield Case("matrices", "plan mistakes", ("plan", "-f", "mistakes.yaml"), at=".")
    yield Case("matrices", "plan of the program", ("plan", "--json"), "json", at=".")
    yield Case("matrices", "plan of nothing", ("plan", "-f", "nowhere.yaml"), at=".")
    carried = ("plan", "--plan", "carried")
    loaded = "data-home/framework-bench/bundles"
    yield Case("bundles", "plan", carried, at=loaded)
    yield Case("bundles", "plan json", (*carried, "--json"), "json", at=loaded)
    yield Case("bundles", "plan long", (*carried, "--long"), at=loaded)
    yield Case("bundles", "plan of another", ("plan", "--plan", "other"), at=loaded)
    measured = CORPUS / "measured" / "20261122T234123Z-37eb" / "matrix.yaml"
    earlier = ("plan", "-f", f"results/{measured.parent.name}/matrix.yaml")
    yield Case("measured", "plan", earlier)
    yield Case("measured", "plan json", (*earlier, "--json"), "json")


# What there is -------------------------------------------------------------------------------------------------------

SCHEMAS = (
    "matrix", "request", "result", "outcome", "run", "environments", "event", "parity", "script", "manifest",
    "regression", "nightly", "acknowledged", "night", "bisect",
)  # fmt: skip


def _catalog() -> Iterator[Case]:
    for name, arguments in (
        ("models", ("models", "-f", "default.yaml")),
        ("models own", ("models", "-f", "own.yaml")),
        ("models in a folder", ("models", "-f", "default.yaml", "--models", "models")),
        ("frameworks", ("frameworks",)),
    ):
        yield Case("matrices", name, arguments, at=".")
        yield Case("matrices", f"{name} json", (*arguments, "--json"), "json", at=".")
    yield Case("matrices", "frameworks narrow", ("frameworks",), at=".", columns=NARROW)
    for schema in SCHEMAS:
        yield Case("matrices", f"schema {schema}", ("schema", schema), "json", at=".")


def _others() -> Iterator[Case]:
    for name in ("whole", "damaged"):
        yield Case("bundle", f"verify {name}", ("verify", f"bundle/{name}"), at="bundle")
        yield Case("bundle", f"verify {name} json", ("verify", f"bundle/{name}", "--json"), "json", at="bundle")
    for name in ("bisect-20260510T030405Z-0000", "bisect-20260511T030405Z-0001"):
        resumed = ("bisect", "--resume", name)
        yield Case("resumed", name, resumed, at=".")
        yield Case("resumed", f"{name} json", (*resumed, "--json"), "json", at=".")
    yield Case("searches", "resumed broken", ("bisect", "--resume", "bisect-20260508T030405Z-0008"))


# Where two readers or judges disagree --------------------------------------------------------------------------------


def _disagreements() -> Iterator[Case]:
    """The decisions that README.md lists: the commit of such a change names the entry of the list."""
    for path in sorted((CORPUS / "disagreements").iterdir()):
        folder = f"disagreements/{path.name}"
        runs = sorted(run.name for run in path.iterdir())
        pins = (f"{runs[0]}:mxnet==1.5.1", f"{runs[0]}:mxnet==1.9.1")
        yield Case(folder, "compare", ("compare", *(runs if len(runs) > 1 else pins), "--json"), "json")
        yield Case(folder, "report", ("report", "--json"), "json")
        yield Case(folder, "report all", ("report", "--all", "--json"), "json")
        history = ("history", "-o", PAGES, "--by-release", "--metric", "all", "--json")
        yield Case(folder, "history", history, "json")
        yield Case(folder, "runs", ("runs",))
        yield Case(folder, "show", ("show", "--json"), "json")
    named = ("20260701T000000Z-0001:noop==1", "20260702T000000Z-0002:noop==1")
    yield Case("disagreements/noop", "compare named", ("compare", *named, "--json"), "json")
