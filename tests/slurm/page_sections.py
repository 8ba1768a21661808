"""The sections of docs/cluster.md with the number of their blocks of commands, by the test that runs them."""

PAGE = "cluster.md"
WITH_CONTAINERS = {"Set it up": 2, "Running": 3, "The report": 2}
"""Run in their order by `test_page_on_slurm.py`."""
WITH_FILES = {"Images on nodes": 2, "Without a shared folder": 1, "Where things are": 1}
"""Run by `test_images_and_results.py`."""
OF_FLEET = {"The fleet": 1}
"""Run by `test_fleet_on_slurm.py`."""
