"""A script that floods its folder, through the whole program on the interpreter at hand."""

from pathlib import Path

import pytest

from tests.envelopes import data_of
from tests.unit.cli.conftest import Program

pytestmark = pytest.mark.ordinary_user

SCRIPT = """\
import os, sys, time
given = open(f"/proc/{os.getppid()}/cmdline").read().split("\\0")
folder = given[given.index("--io") + 1]
print("speed 1", flush=True)
if sys.argv[1] == "sparse":
    with open(f"{folder}/checkpoint", "wb") as file:
        file.truncate(1 << 43)
    time.sleep(600)
if sys.argv[1] == "files":
    for number in range(100):
        open(f"{folder}/{number}", "w").close()
os.mkdir(f"{folder}/cache")
os.chmod(f"{folder}/cache", 0)
"""
MATRIX = """\
version: 1
frameworks: [noop==1]
repeats: 1
output: {size: 32m, files: 50}
scripts:
  - name: NAME
    file: write.py
    arguments: [NAME]
    metrics: {speed: {pattern: 'speed (.*)', unit: samples/s, better: higher}}
"""


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        ("sparse", "output_limit", "wrote 8 TiB or more into its folder; the limit is 32 MiB"),
        ("files", "output_limit", "made 51 files or more in its folder; the limit is 50"),
        ("little", "ok", ""),
    ],
)
def test_a_script_that_floods_is_stopped(name: str, status: str, reason: str, command: Program, tmp_path: Path) -> None:
    (tmp_path / "write.py").write_text(SCRIPT)
    (tmp_path / "matrix.yaml").write_text(MATRIX.replace("NAME", name))
    code, out, errors = command("run", "--runtime", "host", "--idle-wait", "0", "--json")

    (repeat,) = data_of(out)["cells"][0]["repeats"]
    assert (repeat["outcome"]["status"], repeat["outcome"]["reason"]) == (status, reason), errors
    assert code == (1 if status == "output_limit" else 0)
    assert command("run", "--resume", "latest", "--retry-failed")[0] == code, "what is closed is moved aside"
