"""Every command of docs/cluster.md is run by a test with Slurm."""

import re

from tests.documented import whole
from tests.slurm.page_sections import OF_FLEET, PAGE, WITH_CONTAINERS, WITH_FILES


def test_every_block_of_commands_is_run_by_a_test() -> None:
    """A block that comes to the page has to come into a test too."""
    text = whole(PAGE)
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    blocks = {name: body.count("```sh\n") for name, body in zip(parts[1::2], parts[2::2], strict=True)}

    assert "```sh\n" not in parts[0]
    assert {name: count for name, count in blocks.items() if count} == WITH_CONTAINERS | WITH_FILES | OF_FLEET
