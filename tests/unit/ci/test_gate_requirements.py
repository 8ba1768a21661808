"""The gate demands everything that a test may lack, but for hardware and a cluster."""

import re

from orchestrator.resources import ROOT

ELSEWHERE = {
    "BENCH_REQUIRE_GPU": "Makefile",
    "BENCH_REQUIRE_SLURM": "Makefile",
    "BENCH_REQUIRE_ORDINARY_USER": ".ci/ordinary-user",
}
"""Demanded where the tests of a GPU, a cluster and an ordinary user are run."""


def test_the_gate_skips_nothing_for_want_of_a_tool() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    named = {name for text in texts for name in re.findall(r'"(BENCH_REQUIRE_[A-Z_]+)"', text)}
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    assert named - ELSEWHERE.keys() <= {name for name in named if f"{name}=1" in gate}
    for name, place in ELSEWHERE.items():
        assert f"{name}=1" in (ROOT / place).read_text(encoding="utf-8")
