"""The documentation opened from disk: search, phones, and what axe finds; nothing is asked for elsewhere."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from bench.documentation.counts import dead_links
from orchestrator.resources import ROOT
from tests.browser.test_report import browser

__all__ = ["browser"]
pytestmark = pytest.mark.browser

QUESTIONS = {
    "how do I get a first result": "tutorial/first-verdict.html",
    "how do I find which release made it slower": "regression/bisect.html",
    "how do I measure on a server without internet": "offline.html",
    "how do I add a release to the catalog": "catalog.html",
    "how do I use my own onnx model": "your-model.html",
    "how do I run on a slurm cluster": "cluster.html",
    "how do I run on kubernetes": "kubernetes.html",
    "how do I acknowledge a known change": "nightly/alarms.html",
    "how do I compare two stored runs": "regression/stored-runs.html",
    "how do I use my own dataset": "datasets/own.html",
    "how do I run my own training script": "scripts.html",
    "how do I push images to a registry": "registry.html",
    "how do I sign a bundle": "offline/trust.html",
    "how do I use a pip mirror or a proxy": "catalog/build-settings.html",
    "what do the columns of a report mean": "report/columns.html",
    "how do I get junit for my ci server": "report/statuses.html",
    "how do I know if my host is fit to measure": "host.html",
    "how do I call it from python": "api.html",
    "how do I share a network without its weights": "serving/anonymise.html",
    "how do I set up a nightly": "tutorial/nightly.html",
}
MORE_QUESTIONS = {
    "how do I choose which cells run": "matrix/selection.html",
    "how long will a run take": "matrix/plan.html",
    "how do I free disk space": "host.html",
    "why is my cell not comparable": "measurement/parity.html",
    "what does p99 latency mean": "measurement/latency.html",
    "how do I run on several gpus": "gpu/several.html",
    "how do I export to sqlite": "data.html",
    "how do I compare pytest-benchmark files": "interchange.html",
    "how do I measure tokens per second": "generate.html",
    "how do I resume a run that was killed": "contract/faults.html",
    "which python does torch need": "catalog.html",
    "out of memory status": "report/statuses.html",
    "gpu is not found": "gpu/failures.html",
    "compare amp with fp32": "options.html",
    "are results affected by other users on the machine": "measurement/disturbance.html",
    "carry results back from the offline server": "offline.html",
    "set environment variables": "matrix/selection.html",
    "convert photographs to a dataset": "datasets/kinds.html",
    "custom dockerfile": "catalog/images.html",
    "slower after numpy upgrade": "regression.html",
}
"""Asked in other words, and without "how do I"."""
STRANGERS_QUESTIONS = {
    "how to install and run first benchmark": "tutorial/first-verdict.html",
    "add a new framework version to the matrix": "catalog.html",
    "compare pytorch versions speed": "regression.html",
    "benchmark my own onnx model": "your-model.html",
    "run without internet access": "offline.html",
    "submit jobs to slurm cluster": "cluster.html",
    "find which version caused the slowdown": "regression/bisect.html",
    "fail CI if performance gets worse": "ci.html",
    "schedule nightly runs": "nightly.html",
    "choose which gpu to use": "gpu.html",
    "cuda out of memory during run": "gpu/failures.html",
    "measure tokens per second llm text generation": "generate.html",
    "publish results as a web page": "site.html",
    "where are results saved output json format": "contract.html",
    "docker permission denied": "engines.html",
    "docker image build fails": "catalog/images.html",
    "disk full delete old images": "host.html",
    "only run some cells skip others": "matrix/selection.html",
    "resume interrupted run": "contract/faults.html",
    "how many warmup iterations noise in timings": "measurement.html",
}
"""Asked by somebody who has not read `howto.md`, whose words the search knows."""
ENOUGH = 18


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does."""
    folder: Path = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return folder


def test_no_link_of_the_site_is_dead(site: Path) -> None:
    """Anchors and files too, of which mkdocs does not look at those in pages that are made."""
    assert dead_links(site) == []


@pytest.fixture
def page(browser: Browser, site: Path) -> Iterator[Page]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.mark.parametrize(
    "questions", [QUESTIONS, MORE_QUESTIONS, STRANGERS_QUESTIONS], ids=["asked", "in other words", "by a stranger"]
)
def test_search_leads_to_the_right_page(questions: Mapping[str, str], page: Page, site: Path) -> None:
    """The right page is first for eighteen of twenty questions."""
    assert len(questions) == 20
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "index.html").as_uri())
    box = page.locator("input.md-search__input")
    box.click()
    first = {}
    for question in questions:
        box.fill("zzz")
        box.press("End")
        page.wait_for_function("document.querySelectorAll('.md-search-result__item').length === 0")
        box.fill(question)
        box.press("End")
        link = page.locator(".md-search-result__item > a").first
        address = link.get_attribute("href") or ""
        first[question] = address.partition(f"/{site.name}/")[2].partition("?")[0].partition("#")[0]

    wrong = {question: found for question, found in first.items() if found != questions[question]}
    assert len(questions) - len(wrong) >= ENOUGH, wrong
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index.html", "regression.html", "reference/commands/run.html", "studies.html"])
def test_only_tables_scroll_on_a_phone(browser: Browser, site: Path, name: str, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": 390, "height": 800})
    phone = context.new_page()
    phone.goto((site / name).as_uri())

    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index.html", "regression.html", "tutorial/first-verdict.html"])
def test_axe_finds_nothing_in_the_documentation(browser: Browser, site: Path, name: str, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme)
    opened = context.new_page()
    opened.goto((site / name).as_uri())
    opened.wait_for_selector(".md-content")
    found = Axe().run(opened).response["violations"]

    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
    context.close()
