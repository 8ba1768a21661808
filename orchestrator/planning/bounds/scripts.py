"""Bounds of the scripts of a plan.

Their files are mounted, so that none of them may lie anywhere else.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from orchestrator import limits
from orchestrator.domain import VARIABLE, Plan
from orchestrator.files import problem_of_path
from orchestrator.matrix.scripts.files import checked_syntax, groups_problem, written_file_problem
from orchestrator.matrix.values import kinds
from orchestrator.matrix.values.variables import name_problem, value_problem
from orchestrator.user_files import PrintedMetric, Script

_SUM = re.compile(r"[0-9a-f]{64}")


def problems(plan: Plan) -> Iterator[str]:
    """Yield a line for each thing of a plan's scripts that is out of bounds."""
    by_name: dict[str, Script] = {}
    for script in dict.fromkeys(cell.script for cell in plan.cells if cell.script):
        if by_name.setdefault(script.name, script) != script:
            yield f"script {script.name[:100]!r} is described twice, each time in another way"
        yield from (f"script {script.name[:100]!r}: {problem}" for problem in _script(script))


def _script(script: Script) -> Iterator[str]:
    if not re.fullmatch(kinds.WORD, script.name) or len(script.name) > kinds.MAX_WORD:
        yield "has a name that no matrix could give it"
    for metric in script.metrics:
        yield from (f"metric {metric.name[:100]!r}: {problem}" for problem in _metric(metric, script))
    if len(script.arguments) > kinds.MAX_ARGUMENTS:
        yield f"has more than {kinds.MAX_ARGUMENTS:,} arguments"
    for text in script.arguments:
        if len(text) > kinds.MAX_TEXT or not re.fullmatch(kinds.ARGUMENT, text):
            yield f"argument {text[:100]!r} has a control character, or more than {kinds.MAX_TEXT:,} characters"
    if not script.files and script.path and not script.entry:
        return  # a script of an earlier version is shown in reports and never run
    if script.path:
        yield f"names a place on a host, {script.path[:200]!r}, besides its files"
    yield from _files(script)
    for name, value in script.environment:
        if problem := name_problem(f"{VARIABLE}{name}") or value_problem(name, value) or "":
            yield f"environment: {problem[:300]}"


def _metric(metric: PrintedMetric, script: Script) -> Iterator[str]:
    files = {file.path for file in script.files}
    if metric.file and (problem := written_file_problem(metric.file, files, has_copy=script.has_copy)):
        yield f"its file {ascii(problem)[1:-1][:300]}"
    if not re.fullmatch(kinds.METRIC, metric.name):
        yield "has a name that no matrix could give it"
    if not re.fullmatch(kinds.UNIT, metric.unit):
        yield f"unit: {metric.unit[:100]!r} is not 1 to 100 characters without a control character"
    if not metric.pattern:
        yield "its pattern is empty"
    elif len(metric.pattern) > kinds.MAX_PATTERN:
        yield f"its pattern is longer than {kinds.MAX_PATTERN:,} characters"
    else:
        try:
            problem = groups_problem(checked_syntax(metric.pattern))
        except ValueError as error:
            problem = ascii(str(error))[1:-1]
        if problem:
            yield f"its pattern {problem}"


def _files(script: Script) -> Iterator[str]:
    paths = {file.path for file in script.files}
    folders = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    if script.entry not in paths or "/" in script.entry:
        yield f"its file {script.entry[:200]!r} is not at the top of its files"
    if len(paths) != len(script.files) or paths & folders:
        yield "two of its files take the same place"
    if len(paths) > limits.MAX_SCRIPT_FILES or script.size_bytes > limits.MAX_SCRIPT_BYTES:
        yield f"has more than {limits.MAX_SCRIPT_FILES:,} files, or more than {limits.MAX_SCRIPT_BYTES:,} bytes"
    for file in script.files:
        if problem := problem_of_path(f"scripts/{script.name}/{file.path}"):
            yield f"its file {file.path[:200]!r} {problem.replace('the bundle', 'its folder')}"
        if file.size_bytes < 0 or not _SUM.fullmatch(file.sha256):
            yield f"its file {file.path[:200]!r} has no size, or no SHA-256"
