"""Notices as a person reads them without a terminal."""

from orchestrator.events import Notice
from orchestrator.reporting.live.plain import line


def test_a_notice_has_one_prefix() -> None:
    assert line(Notice("the engine has none"), 0) == "note: the engine has none"
    assert line(Notice("warning: m.yaml:1:14: left out"), 0) == "warning: m.yaml:1:14: left out"
