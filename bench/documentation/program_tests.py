"""Each call of another program that a page shows: run for real by a test, or replaced by a stand-in."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench.documentation.command_tests import SERVED, WALK, runner_of
from bench.documentation.documented_commands import ProgramCall, other_programs, pages
from tests.walks.place import STANDING_IN

_GATE = ".ci/run"
"""Runs whatever has to pass before a change is taken."""
_EXTRAS = "tests/walks/test_installed_extras.py"
_BY_HAND = "tests/docker/test_images_by_hand.py"
_MAKE = "make itself, in a dry run: tests/unit/documentation/test_lines_of_make.py looks for each target"
OTHER_TESTS: Mapping[tuple[str, str], str] = {
    ("CONTRIBUTING.md", "base-images"): _GATE,
    ("CONTRIBUTING.md", "ordinary-user"): _GATE,
    ("docs/catalog.md", "docker"): _BY_HAND,
    ("docs/contract/confinement.md", "docker"): _BY_HAND,
    ("docs/data.md", "pip"): _EXTRAS,
    ("docs/datasets.md", "docker"): _BY_HAND,
    ("docs/models.md", "docker"): _BY_HAND,
    ("docs/models.md", "python"): WALK,
    ("docs/serve.md", "cat"): SERVED,
    ("docs/serve.md", "curl"): "tests/walks/test_followed_streams.py",
    ("docs/serve.md", "pip"): _EXTRAS,
    ("docs/serve.md", "tail"): "tests/walks/test_followed_streams.py",
    ("docs/your-model.md", "make"): "tests/docker/test_your_model_page.py",
}  # fmt: skip
"""By page and program, what runs the real program besides the walks and the tests of whole sections. The line of
docs/models.md stands in CONTRIBUTING.md too."""
STANDING_IN_ELSEWHERE: Mapping[tuple[str, str], str] = {
    ("CONTRIBUTING.md", "make"): _MAKE,
}
"""By page and program, what takes its place outside the walks, and why."""
_ONLY_OURS = frozenset({SERVED})
"""Tests that run the calls of our program alone, and not the blocks that hold them."""


@dataclass(frozen=True, slots=True)
class RunProgram:
    """A call of another program, with the test that runs it or what takes its place."""

    call: ProgramCall
    test: str = ""
    """The test that runs the real program."""
    stand_in: str = ""
    """The program that takes its place, and why."""
    reason: str = ""

    @property
    def is_real(self) -> bool:
        """Return whether a test runs the real program."""
        return bool(self.test) and not self.stand_in


def shown_programs() -> Iterator[RunProgram]:
    """Yield every call of another program that a page shows."""
    for page in pages():
        for call in other_programs(page):
            yield _run(call)


def _run(call: ProgramCall) -> RunProgram:
    named = (call.page, call.program)
    if named in OTHER_TESTS:
        return RunProgram(call, OTHER_TESTS[named])
    test = runner_of(call.page, call.section)
    if test and test not in _ONLY_OURS:
        is_replaced = test == WALK and call.program in STANDING_IN
        return RunProgram(call, test, STANDING_IN[call.program].reason if is_replaced else "")
    return RunProgram(call, "", STANDING_IN_ELSEWHERE.get(named, ""))
