"""The page of parity is what its figures make it, and new comparisons take the place of old ones alone."""

import json
from typing import Any

from bench import parity, parity_page


def row(model: str, one: str, other: str = "onnxruntime 1.32.0", work: str = "same work") -> dict[str, Any]:
    named = {"model": model, "mode": "infer", "one": one, "other": other, "work": work}
    return named | {"reason": "", "note": "", "known_fault": "", "compared": []}


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
