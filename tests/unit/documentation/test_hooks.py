"""The navigation takes whole folders, and files that are not on the site are named."""

from types import SimpleNamespace

import pytest

from tests.documented import DOCS

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


QUESTIONS = """\
| how do I … | page |
|---|---|
| run on a cluster? | [Cluster](cluster.md) |
| cancel, or resume a run? | [Cluster](cluster.md#running) |
"""


def test_words_of_questions_lead_to_their_page() -> None:
    assert hooks.asked_words(QUESTIONS) == {
        "cluster.md": ["a", "cancel", "cluster", "on", "or", "resume", "run"],
    }  # fmt: skip


def test_every_question_has_a_page_that_is_there() -> None:
    text = (DOCS / hooks.QUESTIONS).read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and "how do I" not in line]

    assert len(rows) > 50
    assert len(rows) == len(list(hooks._QUESTION.finditer(text))), "each row is a question with its page"
    assert all((DOCS / page).is_file() for page in hooks.asked_words(text))


def test_figures_come_later_in_the_search() -> None:
    config = SimpleNamespace(docs_dir=str(DOCS))
    metas = {}
    for name in ("studies/20261124T020942Z-651f.md", "offline.md"):
        page = SimpleNamespace(file=SimpleNamespace(src_uri=name), meta={})
        assert hooks.on_page_content("<p>", page, config) == "<p>"
        metas[name] = page.meta

    assert metas["studies/20261124T020942Z-651f.md"] == {"search": {"boost": 0.2}}
    assert "internet" in metas["offline.md"]["tags"]
