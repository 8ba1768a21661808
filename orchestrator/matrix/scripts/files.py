"""The files of a script, which are its own file and those that a matrix declares."""

import os
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath

from orchestrator import limits
from orchestrator.files import problem_of_path, says_where_it_leads

_CACHES = "__pycache__"
_MAGIC = frozenset("*?[")


def unusable(path: Path, text: str, folder: Path) -> str:
    """Return the reason that no script can begin with a file, which the matrix in `folder` names so, or nothing."""
    if not is_file(path):
        return f"there is no file {text!r}; relative paths start at the folder of the matrix"
    if not says_where_it_leads(path, folder):
        return f"{text!r} leads out of the folder of the matrix through a link"
    if problem := problem_of_path(path.name):
        return f"{path.name!r} cannot be carried: its name {problem}"
    return ""


def is_file(path: Path) -> bool:
    """Return true if a path is that of a file, whatever text it was made from."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def find(folder: Path, entry: str, patterns: Sequence[str]) -> tuple[tuple[str, ...], list[tuple[int, str]]]:
    """Return the paths of a script's files below its folder, and the mistake of each wrong pattern by its index."""
    files = {entry}
    mistakes: list[tuple[int, str]] = []
    for index, pattern in enumerate(patterns):
        try:
            matches = list(islice(_matches(folder, pattern), limits.MAX_SCRIPT_FILES + 1))
            for path in matches:
                _check(folder, path)
            files.update(matches)
        except (OSError, NotImplementedError, ValueError) as error:
            # The pattern itself causes the first two; a `ValueError` of `_matches` or `_check` holds a sentence.
            reason = error.strerror if isinstance(error, OSError) else str(error)
            mistakes.append((index, f"{pattern!r}: {reason}"))
    return tuple(sorted(files)), mistakes


def too_much(folder: Path, paths: Sequence[str]) -> str | None:
    """Return a sentence on the limit that the files of one script exceed, or None."""
    if len(paths) > limits.MAX_SCRIPT_FILES:
        return f"more than {limits.MAX_SCRIPT_FILES:,} files belong to the script; name fewer of them"
    size_bytes = sum((folder / path).stat().st_size for path in paths)
    if size_bytes > limits.MAX_SCRIPT_BYTES:
        most = f"{limits.MAX_SCRIPT_BYTES // 1024**2} MiB"
        return f"the files of the script have {size_bytes:,} bytes, more than {most}; keep large data in a dataset"
    return None


def _matches(folder: Path, pattern: str) -> Iterator[str]:
    """Yield the files that a pattern names, or raise `ValueError` if it names none."""
    parts = PurePosixPath(pattern).parts
    if not parts or pattern.startswith("/") or ".." in parts:
        raise ValueError("should be a path or a pattern below the folder of the script")
    if os.path.lexists(folder / pattern):  # the name of a file may hold a bracket
        if (folder / pattern).is_dir():
            raise ValueError(f"is a folder; write {pattern.rstrip('/')}/**/* for the files in it")
        yield PurePosixPath(pattern).as_posix()
        return
    if not _MAGIC & set(pattern):
        raise ValueError("there is no such file in the folder of the script")
    any_file = False
    for path in folder.glob(pattern):
        relative = path.relative_to(folder)
        if _is_meant(relative.parts, parts) and path.is_file():
            any_file = True
            yield relative.as_posix()
    if not any_file:
        raise ValueError("matches no file in the folder of the script")


def _is_meant(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return true if a pattern means a file that it matches.

    A pattern has to name hidden files and caches of bytecode to mean them.
    """
    hidden = any(part.startswith(".") for part in parts) and not any(part.startswith(".") for part in pattern)
    return not hidden and not (_CACHES in parts and _CACHES not in pattern)


def _check(folder: Path, path: str) -> None:
    place = folder / path
    if not place.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{path!r} leads out of the folder of the script through a link")
    if not place.is_file():
        raise ValueError(f"{path!r} is no plain file")
    if problem_of_path(path):
        raise ValueError(f"{path!r} cannot be carried: its name {problem_of_path(path)}")


def compiled(text: str) -> re.Pattern[str]:
    """Compile a pattern without Python's warnings, or raise `re.error` if it is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(text)
        except (OverflowError, RecursionError) as error:
            raise re.error(str(error)) from None


def checked_syntax(text: str) -> str:
    """Return a pattern unchanged, or raise `ValueError` if it is no regular expression."""
    try:
        compiled(text)
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from None
    return text


def written_file_problem(path: str, files: Collection[str], *, has_copy: bool) -> str | None:
    """Return the reason that no figure can be read from a file that a script writes, or None.

    `files` are the script's own, by path.
    """
    if not has_copy:
        return "needs `workdir: copy` too; without that the script cannot write into its working directory"
    if problem := problem_of_path(path):
        told = problem.replace("the bundle", "the working directory")
        return f"{path!r} {told}; write a path such as logs/train.csv"
    if path in files:
        return f"{path!r} is one of the script's own files, with figures from before the run; name one that it writes"
    return None


def groups_problem(text: str) -> str | None:
    """Return the reason that no group of a regular expression is clearly the number, or None."""
    pattern = compiled(text)
    if pattern.groups > 1 and "value" not in pattern.groupindex:
        return f"has {pattern.groups} groups; call the one with the number (?P<value>…)"
    return None
