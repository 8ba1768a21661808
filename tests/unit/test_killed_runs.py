"""The row of runs on Slurm that were killed, from the report of their tests."""

from bench.hosts.random_kills import KilledRun, as_row, killed_runs

REPORT = """\
<testsuites><testsuite name="pytest">
<testcase name="a[0]"><properties><property name="victim" value="node" />
<property name="statuses" value="{&quot;ok&quot;: 4, &quot;not_run&quot;: 2}" /></properties></testcase>
<testcase name="a[1]"><properties><property name="victim" value="job" /></properties><failure /></testcase>
<testcase name="a[2]"><error /></testcase>
</testsuite></testsuites>
"""
NODE = KilledRun("node", {"ok": 4, "not_run": 2}, is_complete=True)


def test_a_run_is_read_with_its_victim_and_its_outcomes() -> None:
    """One whose test has failed is not complete, whatever it had written down by then."""
    assert killed_runs(REPORT) == [
        NODE,
        KilledRun("job", {}, is_complete=False),
        KilledRun("nothing", {}, is_complete=False),
    ]


def test_all_twenty_runs_have_to_be_complete() -> None:
    row = as_row([NODE] * 20)

    assert row["within"]
    assert "20 of 20 runs complete" in row["text"]
    assert "20 of a node; the outcomes before `--resume`: 40 `not_run`, 80 `ok`; " in row["text"]
    assert not as_row([NODE] * 19)["within"]
    assert not as_row([NODE] * 19 + [KilledRun("job", {}, is_complete=False)])["within"]


def test_what_failed_is_counted_by_what_was_killed() -> None:
    job = KilledRun("job", {"ok": 5, "failed": 1}, is_complete=True)

    assert as_row([NODE] * 18 + [job] * 2)["text"].endswith("`failed`: 2 after that of a job, 0 after that of a node")


def test_an_outcome_without_a_type_is_told() -> None:
    unknown = KilledRun("node", {"ok": 5, "": 1}, is_complete=True)

    assert not unknown.is_typed
    assert not as_row([NODE] * 19 + [unknown])["within"]
