"""The textfile collector of Prometheus' node exporter, which takes the files that `--format openmetrics` writes."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import pytest
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics_parser

from orchestrator.reporting.formats import render
from tests.required import missing
from tests.unit.reporting.formats.test_interchange import KINDS

PROGRAM = "prometheus-node-exporter"
"""Debian's name of it."""
Samples = set[tuple[str, tuple[tuple[str, str], ...], float]]


@pytest.fixture
def exporter(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """The folder that a node exporter reads, and its address."""
    program = shutil.which(PROGRAM)
    if not program:
        missing(f"{PROGRAM} is not installed", "BENCH_REQUIRE_NODE_EXPORTER")
    options = ["--collector.disable-defaults", "--collector.textfile", f"--collector.textfile.directory={tmp_path}"]
    command = [program, *options, "--web.listen-address=127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        try:
            said = iter(process.stderr.readline, "")
            address = next(found[1] for line in said if (found := re.search(r"address=(127\.0\.0\.1:\d+)", line)))
            yield tmp_path, f"http://{address}/metrics"
        finally:
            process.kill()


def scraped(address: str) -> Samples:
    with build_opener(ProxyHandler({})).open(address, timeout=60) as answer:
        text = answer.read().decode()
    families = parser.text_string_to_metric_families(text)
    return {(each.name, (*sorted(each.labels.items()),), each.value) for family in families for each in family.samples}


@pytest.mark.parametrize("kind", KINDS)
def test_collector_gives_every_sample(kind: str, exporter: tuple[Path, str]) -> None:
    folder, address = exporter
    text = render(*KINDS[kind], "openmetrics")
    (folder / "orchestrator.prom").write_text(text, encoding="utf-8")
    families = openmetrics_parser.text_string_to_metric_families(text)
    written = {
        (each.name, (*sorted(each.labels.items()),), each.value) for family in families for each in family.samples
    }
    given = scraped(address)

    assert ("node_textfile_scrape_error", (), 0.0) in given
    assert written <= given


def test_collector_says_what_it_cannot_read(exporter: tuple[Path, str]) -> None:
    folder, address = exporter
    (folder / "orchestrator.prom").write_text("no metrics {\n", encoding="utf-8")

    assert ("node_textfile_scrape_error", (), 1.0) in scraped(address)
