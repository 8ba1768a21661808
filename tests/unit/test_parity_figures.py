"""The page of parity is what its figures make it, and new comparisons take the place of old ones alone."""

import json
from pathlib import Path
from typing import Any

from bench.networks import parity, parity_page
from orchestrator.catalog.shipped import shipped_catalog

TIE = "1 of 8 generations part at a tie of the two best logits, and 250 tokens of 256 are compared and the same"

SIDES = (("torch 2", "jax 1"), ("torch 2", "openvino 1"), ("onnxruntime 1.32.0", "openvino 1"))


def row(
    model: str, one: str, other: str = "onnxruntime 1.32.0", work: str = "same work", **more: Any
) -> dict[str, Any]:
    named = {"model": model, "mode": "infer", "one": one, "other": other, "work": work}
    return named | {"reason": "", "note": "", "known_fault": "", "compared": []} | more


def compared(what: str, value: float) -> dict[str, Any]:
    return {"evidence": "tokens", "what": what, "value": value, "bar": 1e-4}


def on(commit: str) -> dict[str, Any]:
    return {"at": "2026-11-27T02:25:06", "commit": commit, "cpus": 2, "cpu": "x", "kernel": "6.1"}


def test_stored_page_matches_its_figures() -> None:
    assert parity_page.page(json.loads(parity.FIGURES.read_text())) == parity.PAGE.read_text()


def test_page_names_what_a_section_lacks() -> None:
    engines = {"measured": {"mlp": [on("a1")]}, "pairs": [row("mlp", "torch 2.13.0")]}
    exporters = {"measured": {"gru": [on("a1")]}, "pairs": [row("gru", "openvino 1", "openvino 1 on torch 2")]}

    page = parity_page.page({"engines": engines, "exporters": exporters})

    models, frameworks, exported = (line for line in page.splitlines() if "that are not checked here" in line)
    assert "`xception`" in models
    assert not {"`mlp`", "`encoder`"} & set(models.replace(",", "").split())
    assert "`scikit-learn`" in frameworks
    assert not {"`torch`", "`onnxruntime`", "`noop`"} & set(frameworks.replace(",", "").split())
    assert ("`mlp`" in exported, "`gru`" in exported) == (True, False)


def test_new_comparisons_keep_the_conditions_of_the_others() -> None:
    before = {
        "measured": {"mlp": [on("a1")], "gru": [on("a1")], "lstm": [on("a1")]},
        "pairs": [row("mlp", "torch 2"), row("gru", "torch 2"), row("gru", "jax 1"), row("lstm", "torch 2")],
    }

    after = parity.replaced(before, [row("gru", "torch 2", work="not checked"), row("lstm", "torch 2")], on("b2"))

    assert {model: [each["commit"] for each in several] for model, several in after["measured"].items()} == {
        "mlp": ["a1"],
        "gru": ["a1", "b2"],
        "lstm": ["b2"],
    }
    assert [(each["model"], each["one"], each["work"]) for each in after["pairs"]] == [
        ("mlp", "torch 2", "same work"),
        ("gru", "jax 1", "same work"),
        ("gru", "torch 2", "not checked"),
        ("lstm", "torch 2", "same work"),
    ]


def test_page_says_which_models_were_checked_together() -> None:
    measured = {"mlp": [on("b2")], "gru": [on("a1")], "cnn": [on("a1"), on("b2")]}

    page = parity_page.page({"engines": {"measured": measured, "pairs": [row("mlp", "torch 2")]}})

    assert page.splitlines()[-2:] == [
        "- engines (cnn, gru): 2026-11-27, commit a1, 2 × x, Linux 6.1",
        "- engines (cnn, mlp): 2026-11-27, commit b2, 2 × x, Linux 6.1",
    ]


def test_engines_are_in_pairs_of_every_mode_but_training() -> None:
    pairs = [row("decoder", one, other, mode=mode) for one, other in SIDES for mode in parity_page.MODES]

    kept = parity.without_training_engines(pairs, {"onnxruntime 1.32.0", "openvino 1"})

    assert [(each["one"], each["other"], each["mode"]) for each in kept] == [
        *(("torch 2", "jax 1", mode) for mode in ("train", "infer", "generate")),
        *(("torch 2", "openvino 1", mode) for mode in ("infer", "generate")),
        *(("onnxruntime 1.32.0", "openvino 1", mode) for mode in ("infer", "generate")),
    ]


def test_plan_of_transformers_has_each_mode_once(tmp_path: Path) -> None:
    """Requests under load are compared by inference and generation, and would be counted twice."""
    planned = parity.plan((*parity.WITH_ATTENTION, *parity.ENGINES), ["decoder"], tmp_path)

    of_one = [cell.workload.mode.value for cell in planned.cells if cell.framework.name == "onnxruntime"]
    assert of_one == ["train", "infer", "generate"]
    assert parity.engine_labels(planned) == {"onnxruntime 1.32.0", "openvino 2026.4.1"}


def test_engines_are_compared_with_every_framework(tmp_path: Path) -> None:
    entries = shipped_catalog().entries.items()
    with_builder = {name for name, entry in entries if entry.computes and entry.builder}

    planned = parity.plan((*parity.BESIDE_ENGINES, *parity.ENGINES), ["mlp"], tmp_path, of_modes=["infer"])

    assert {cell.framework.name for cell in planned.cells} == with_builder


def test_page_shows_tokens_with_their_ties() -> None:
    same = [compared("chosen tokens of jax 1 and the most likely ones", 0.0), compared("generated tokens", 0.0)]
    tied = [
        compared("chosen tokens of torch 2 and the most likely ones", 0.0),
        compared("token 7 after prompt 2", 3e-5),
    ]
    pairs = [
        row("decoder", "torch 2", "jax 1", mode="generate", compared=tied, note=TIE),
        row("decoder", "openvino 1", "jax 1", mode="generate", compared=same),
        row("decoder", "openvino 1", "torch 2", mode="generate", compared=same, work="not comparable", note="no"),
    ]

    page = parity_page.page({"transformers": {"measured": on("a1"), "pairs": pairs}}).splitlines()

    begin = page.index("|  | mode | pairs | same work | tokens |")
    assert page[begin + 2 : begin + 4] == ["| decoder | generate | 3 | 2 | 3.0e-05 of 0.0001 |", ""]
    notes = page.index("### The same work with a note")
    assert page[notes + 1 : notes + 4] == ["", f"- decoder (generate), torch 2 and jax 1: {TIE}.", ""]
    assert "Modes that are not checked here: `train`, `infer`." in page


def test_equal_notes_are_one_line() -> None:
    pairs = [row("encoder", one, other, mode="train", note="few elements") for one, other in SIDES]

    page = parity_page.page({"transformers": {"measured": on("a1"), "pairs": pairs}})

    assert "- encoder (train), 3 pairs: few elements.\n" in page
