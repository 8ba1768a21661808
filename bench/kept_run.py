"""A run of a benchmark in a folder that may be kept, in which it goes on if it was begun before."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def kept_run(folder: Path, name: str, matrix: str, runtime: str) -> dict[str, Any]:
    """Return the report of a run, which goes on if it was begun before. Raises `SystemExit` if it cannot be made."""
    file, results = folder / f"{name}.yaml", folder / name
    file.write_text(matrix)
    command = [sys.executable, "-m", "orchestrator", "run", f"--results={results}", "--json"]
    begun = results.exists() and any(results.glob("*/run.json"))
    command += ["--resume=latest"] if begun else [f"--file={file}", f"--runtime={runtime}"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if ended.returncode not in {0, 1}:
        raise SystemExit(f"orchestrator run ended with {ended.returncode}")
    document: dict[str, Any] = json.loads(ended.stdout)["data"]
    return document
