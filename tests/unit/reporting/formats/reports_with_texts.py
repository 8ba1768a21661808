"""A script, and a report whose texts would steer a terminal, a page or a spreadsheet."""

from orchestrator.domain import Status
from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.model import Report
from orchestrator.user_files import PrintedMetric, Script
from tests.unit.reporting import synthetic as s

SCRIPT = Script(
    "bench",
    tuple(PrintedMetric(name, ".", "ms", PrintedMetric.Better.LOWER) for name in ("one", "two")),
    path="/bench.py",
)
EVIL = '=HYPERLINK("x")|`</script><img src=x onerror=alert(1)>&{{ 7*7 }}[red]\x1b[31m\x1b]0;t\x07\u202e'


def evil() -> Report:
    """A report in which everything that can be foreign text is."""
    cell = s.cell(s.Framework("mxnet", EVIL, python=EVIL), repeats=2)
    plan = s.plan([])
    plan = s.Plan(EVIL, 1, (), (cell,), (s.Skip(EVIL, EVIL),), (EVIL,))
    record = s.record(plan).model_copy(update={"host": {EVIL: EVIL}, "runtime": EVIL, "created_at": EVIL})
    return compose(record, plan, [*s.ok(cell, [100.0]), s.failed(cell, 1, Status.FAILED, EVIL)], lambda _: EVIL)
