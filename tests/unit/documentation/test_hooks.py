"""The navigation takes whole folders, and files that are not on the site are named."""

from types import SimpleNamespace

import pytest

pytest.importorskip("mkdocs")

from bench.documentation import hooks


def test_folders_of_the_navigation_are_their_pages() -> None:
    nav = hooks._extended(
        [{"Reference": ["reference/commands.md", "reference/commands/"]}, {"Studies": ["studies/"]}],
        ["reference/commands/plan.md", "reference/commands/run.md", "studies/a.md"],
    )

    assert nav == [
        {"Reference": [
            "reference/commands.md",
            {"plan": "reference/commands/plan.md"},
            {"run": "reference/commands/run.md"},
        ]},
        {"Studies": ["studies/a.md"]},
    ]  # fmt: skip


def test_files_beside_the_site_are_named() -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="scripts/public.md"))
    text = "See [this](../../bench/README.md#top), [that](../scripts.md) and [those](more.md)."

    assert hooks.on_page_markdown(text, page, SimpleNamespace(docs_dir="/somewhere/docs")) == (
        "See this (`bench/README.md`), [that](../scripts.md) and [those](more.md)."
    )
