"""The page of the parity of frameworks, `docs/parity.md`, from its figures alone."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from bench.records import where
from orchestrator.analysis.parity.work import WorkParity
from orchestrator.catalog.shipped import shipped_catalog, shipped_models

MODES = ("train", "infer", "generate")
"""Modes with a comparison of their own. Requests under load are compared by those of inference and generation."""
MODELS = ("mlp", "lenet", "cnn", "lstm", "resnet20", "vgg19")
TRANSFORMERS = ("encoder", "decoder")
EXPORTED = ("mlp", "lenet", "lstm", "bilstm", "gru", "babi_rnn", "resnet20", "hierarchical_rnn", *TRANSFORMERS)
OF_ENGINES = "engines"
"""The part of the figures with every model of the program in engines that infer alone, against each framework."""
OF_TRANSFORMERS = "transformers"
"""The part of the figures with networks of attention, in the frameworks that have its layers and in engines."""
OF_EXPORTERS = "exporters"
"""The part of the figures with the files of frameworks' own exporters, against ours in the same engines."""
PARTS_BESIDE = ("options", OF_ENGINES, OF_TRANSFORMERS, OF_EXPORTERS)
PARTS = {
    "worst first loss": "first loss",
    "first gradients": "first gradient",
    "loss after 3": "loss after 3",
    "loss after 10": "loss after 10",
    "optimizer from its rule": "[0-9]+ steps of .* from its rule",
    "optimizer between sides": "[0-9]+ steps of [^ ]+ on",
    "logits": "logits",
    "tokens": "chosen tokens|generated tokens|token [0-9]+ after",
}
"""Columns of the page, with the beginning of the comparisons that belong in each."""
NONE = "–"


def page(figures: dict[str, Any]) -> str:
    """Return the page from the figures alone."""
    rows = [row for model in MODELS for row in figures.get(model, {}).get("pairs", [])]
    same = [row for row in rows if row["work"] == WorkParity.SAME.value]
    option_rows = figures.get("options", {}).get("pairs", [])
    lines = [
        "# Parity of the frameworks at hand",
        "",
        "Written by `python -m bench parity` from [parity.json](parity.json).",
        "[How parity is proven](measurement/parity.md#parity) explains the comparison and its bars.",
        f"Of {len(rows)} pairs of frameworks with the same model in the same mode, {len(same)} do the same work.",
        "",
        *_table([(model, [row for row in rows if row["model"] == model]) for model in MODELS]),
        *_exceptions(rows),
    ]
    if option_rows:
        first = option_rows[0]["model"]
        kinds = dict.fromkeys(" ".join(row["one"].split(" ")[:-1]) for row in option_rows)
        lines += ["", "## One framework with other options", ""]
        lines += [f"`{first}` in each of them, compared with each other: {_options(option_rows)}.", ""]
        groups = [(kind, [row for row in option_rows if row["one"].startswith(f"{kind} ")]) for kind in kinds]
        lines += [*_table(groups), *_exceptions(option_rows, "###")]
    lines += _of_engines(figures.get(OF_ENGINES, {}).get("pairs", []))
    lines += _of_transformers(figures.get(OF_TRANSFORMERS, {}).get("pairs", []))
    lines += _of_exporters(figures.get(OF_EXPORTERS, {}).get("pairs", []))
    lines += ["", "Checked:", "", *_when(figures)]
    return "\n".join(lines) + "\n"


def _of_engines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the section of serving engines, if anything of it was checked."""
    if not rows:
        return
    names, sides, same = _contents(rows)
    yield from ("", "## Serving engines", "")
    yield f"Inference of {len(names)} models in {', '.join(sides)}."
    yield from (f"Of {len(rows)} pairs with an engine, {same} do the same work.", "")
    yield from _left_out("Models", [name for name in shipped_models() if name not in TRANSFORMERS], names)
    yield from _left_out("Frameworks", _frameworks(), {side.split(" ")[0] for side in sides})
    yield from _table([(name, [row for row in rows if row["model"] == name]) for name in sorted(names)])
    yield from _exceptions(rows, "###")


def _contents(rows: list[dict[str, Any]]) -> tuple[list[str], list[str], int]:
    """Return the models and the sides of pairs, and the number of pairs that do the same work."""
    names = dict.fromkeys(row["model"] for row in rows)
    sides = dict.fromkeys(row[side] for row in rows for side in ("one", "other"))
    return [*names], [*sides], sum(row["work"] == WorkParity.SAME.value for row in rows)


def _frameworks() -> list[str]:
    """Return the frameworks of the catalog that compute models and are no backend alone."""
    return [name for name, entry in shipped_catalog().entries.items() if entry.computes and entry.builder]


def _left_out(what: str, every: Sequence[str], checked: Collection[str]) -> Iterator[str]:
    """Yield what a section does not have, in one line."""
    missing = [f"`{name}`" for name in every if name not in checked]
    if missing:
        yield from (f"{what} that are not checked here: {', '.join(missing)}.", "")


def _of_transformers(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the section of networks of attention, if any of them was checked."""
    if not rows:
        return
    names, sides, same = _contents(rows)
    yield from ("", "## Transformers", "")
    yield f"{' and '.join(f'`{name}`' for name in names)}, each at its first size, in {', '.join(sides)}."
    yield "Serving engines do not train, so no pair of training has one."
    yield from (f"Of {len(rows)} pairs, {same} do the same work.", "")
    yield from _left_out("Modes", MODES, {row["mode"] for row in rows})
    yield from _table([(name, [row for row in rows if row["model"] == name]) for name in names])
    yield from _notes(rows)
    yield from _exceptions(rows, "###")


def _of_exporters(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the section of files by exporters of frameworks, if any of them was checked."""
    if not rows:
        return
    names, every_side, same = _contents(rows)
    sides = [side for side in every_side if " on " in side]
    yield from ("", "## Files by exporters of frameworks", "")
    yield f"{', '.join(f'`{name}`' for name in names)}, each compared with the same engine on our own file."
    yield f"Of {len(rows)} pairs, {same} do the same work."
    yield ""
    yield from _left_out("Models", EXPORTED, names)
    yield from _table([(side, [row for row in rows if side in {row["one"], row["other"]}]) for side in sides])
    yield from _exceptions(rows, "###")


def _table(groups: Sequence[tuple[str, list[dict[str, Any]]]]) -> Iterator[str]:
    """Yield one row for each group and mode, with the equal pairs and their largest differences.

    A column without any difference is left out.
    """
    lines: list[tuple[str, list[str]]] = []
    for name, rows in groups:
        for mode in MODES:
            rows_of_mode = [row for row in rows if row.get("mode", "train") == mode]
            equal = [row for row in rows_of_mode if row["work"] == WorkParity.SAME.value]
            if rows_of_mode:
                worst = [_worst(equal, pattern) for pattern in PARTS.values()]
                lines.append((f"| {name} | {mode} | {len(rows_of_mode)} | {len(equal)} |", worst))
    shown = [number for number in range(len(PARTS)) if any(worst[number] != NONE for _, worst in lines)]
    yield f"| {' | '.join(('', 'mode', 'pairs', 'same work', *([*PARTS][number] for number in shown)))} |"
    yield f"|---|---|--:|--:|{'--:|' * len(shown)}"
    yield from (begin + "".join(f" {worst[number]} |" for number in shown) for begin, worst in lines)


def _options(rows: list[dict[str, Any]]) -> str:
    values = dict.fromkeys(row[side].rpartition(" ")[2] for row in rows for side in ("one", "other"))
    return ", ".join(f"`{value}`" for value in sorted(values))


def _worst(rows: list[dict[str, Any]], pattern: str) -> str:
    """Return the largest difference of a kind with its bar, or a dash if there is none."""
    compared = [each for row in rows for each in row["compared"] if re.match(pattern, each["what"])]
    if not compared:
        return NONE
    worst = max(compared, key=lambda each: each["value"])
    return f"{worst['value']:.1e} of {worst['bar']:g}"


def _exceptions(rows: list[dict[str, Any]], level: str = "##") -> Iterator[str]:
    """Yield the pairs that do not the same work, by verdict."""
    for work, title in ((WorkParity.NOT_COMPARABLE, "Not comparable"), (WorkParity.NOT_CHECKED, "Not checked")):
        exceptions = [row for row in rows if row["work"] == work.value]
        yield from ("", f"{level} {title}", "")
        yield from (_exception(row) for row in exceptions)
        if not exceptions:
            yield "None."


def _exception(row: dict[str, Any]) -> str:
    fault = f" Known fault: {row['known_fault']}." if row["known_fault"] else ""
    where = f"{row['model']} ({row.get('mode', 'train')}), {row['one']} and {row['other']}"
    return f"- {where}: {row['reason']}.{fault}"


def _notes(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what weakens the verdict of equal pairs, such as the ties at which their generations part."""
    noted: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        if row["note"] and row["work"] == WorkParity.SAME.value:
            key = (row["model"], row["mode"], row["note"])
            noted.setdefault(key, []).append(f"{row['one']} and {row['other']}")
    if noted:
        yield from ("", "### The same work with a note", "")
    for (model, mode, note), pairs in noted.items():
        yield f"- {model} ({mode}), {pairs[0] if len(pairs) == 1 else f'{len(pairs)} pairs'}: {note}."


def _when(figures: dict[str, Any]) -> Iterator[str]:
    """Yield when and where each part was checked; one of many models names those that were checked together."""
    for part in (*MODELS, *PARTS_BESIDE):
        if part in (OF_ENGINES, OF_EXPORTERS):
            yield from _when_of_models(part, figures.get(part, {}).get("measured", {}))
        elif part in figures:
            yield f"- {part}: {where(figures[part]['measured'])}"


def _when_of_models(part: str, measured: Mapping[str, Sequence[dict[str, Any]]]) -> Iterator[str]:
    checked = sorted((where(on), model) for model, each in measured.items() for on in each)
    for on, several in groupby(checked, key=lambda each: each[0]):
        yield f"- {part} ({', '.join(model for _, model in several)}): {on}"
