"""A foreign script, run unchanged, with numbers taken by patterns from the lines that it prints or leaves in files.

Only the duration of the whole script is measured here. A pattern may be any regular expression, also one that takes
forever on some line. So lines are cut, and each pattern has a limited number of seconds for a whole run.
"""

import contextlib
import hashlib
import math
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import time

from benchmarks import MEASUREMENT_VERSION, devices, process
from benchmarks.errors import BadRequest, Failure
from benchmarks.sampling import telemetry

LINE_BYTES = 4096
MATCHING_S = 10.0
"""Seconds of one pattern, over all lines."""
MOST_VALUES = 100000
FILE_BYTES = 64 * 1024**2
"""Largest file that figures are read from."""
_CHUNK_BYTES = 65536


def answer(request, enter):
    """Run the script of a request to its end. Raises `Failure` if it does not end with status 0."""
    process.prepare(request)
    devices.require_given(request)
    return execute(request, enter), "ran %s" % request.cell


def execute(request, enter):
    """Run the script of a request to its end and return the result as plain values."""
    started_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    script = request.script
    readers = [(metric, Reader(metric["name"], metric["pattern"], metric["take"])) for metric in script["metrics"]]
    printed = [reader for metric, reader in readers if not metric.get("file")]
    path = os.path.join(script["folder"], script["file"])
    try:
        with open(path, "rb") as file:
            sha256 = hashlib.sha256(file.read()).hexdigest()
    except OSError as error:
        raise BadRequest("the script %s cannot be read: %s" % (script["file"], error.strerror)) from None
    enter("script")
    begin = time.perf_counter()
    status = _run([sys.executable, path] + script["arguments"], script["folder"], _environment(script), printed)
    wall_s = time.perf_counter() - begin
    if status:
        ended = "was killed by signal %d" % -status if status < 0 else "ended with status %d" % status
        raise Failure("the script %s %s" % (script["file"], ended))
    for metric, reader in readers:
        if metric.get("file"):
            with _alarmed():
                _read_file(script["folder"], metric["file"], reader)
    return {
        "schema": 1,
        "measurement_version": MEASUREMENT_VERSION,
        "cell": request.cell,
        "repeat": request.repeat,
        "started_at": started_at,
        "wall_s": wall_s,
        "metrics": {reader.name: reader.result() for _, reader in readers},
        "memory": {"peak_rss_bytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024},
        "facts": dict(
            telemetry.machine(),
            python=telemetry.python_version(),
            versions=telemetry.versions(sys.path),
            gpus=telemetry.gpus() if request.gpus else [],
            threads_asked=request.threads,
            script_sha256=sha256,
        ),
    }


class Reader:
    """A reader of one metric from lines of text."""

    def __init__(self, name, pattern, take):
        self.name = name
        self._take = take
        try:
            self._pattern = re.compile(pattern)
        except re.error as error:
            raise BadRequest("metric '%s': this Python takes no pattern %r: %s" % (name, pattern, error)) from None
        self._values = []
        self._matches = 0
        self._left_s = MATCHING_S
        self._problem = ""

    def read(self, line):
        """Look for the pattern in a line, which may match several times."""
        if self._problem:
            return
        if self._left_s <= 0:
            self._problem = "took more than %g s to match" % MATCHING_S
            return
        begin = time.perf_counter()
        try:
            signal.setitimer(signal.ITIMER_REAL, self._left_s)
            try:
                texts = [_number(match) for match in self._pattern.finditer(line)]
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except _TooLong:
            self._problem = "took more than %g s to match" % MATCHING_S
            return
        self._left_s -= time.perf_counter() - begin
        for text in texts:
            self._add(text)

    def refuse(self, problem):
        """Record the reason that nothing can be looked for."""
        self._problem = self._problem or problem

    def result(self):
        """Return the values that count, the number of matches, and what went wrong or None."""
        return {"values": self._values, "matches": self._matches, "problem": self._problem or None}

    def _add(self, text):
        try:
            value = float(text)
        except (TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            self._problem = self._problem or "matched %.60r, which is no finite number" % (text,)
            return
        self._matches += 1
        if self._take == "last":
            self._values = [value]
        elif self._take == "all" and len(self._values) < MOST_VALUES or not self._values:
            self._values.append(value)


class _TooLong(Exception):
    """A pattern's seconds are used up."""


def _too_long(_signal, _frame):
    raise _TooLong


def _number(match):
    """Return the text of the group `value`, of the only group, or of the whole match."""
    if "value" in match.re.groupindex:
        return match.group("value")
    return match.group(1 if match.re.groups else 0)


def _environment(script):
    """Return our environment without the path to our own package, with the variables of the matrix."""
    environment = dict(os.environ, PYTHONUNBUFFERED="1", PYTHONDONTWRITEBYTECODE="1")
    own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    paths = [path for path in environment.pop("PYTHONPATH", "").split(os.pathsep) if path and path != own]
    if paths:
        environment["PYTHONPATH"] = os.pathsep.join(paths)
    return dict(environment, **script["environment"])


def _run(command, folder, environment, readers):
    """Run a command to its end, pass on what it prints, and let the readers see each line. Returns its status."""
    with _alarmed():
        child = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=process.dying_with_this(),  # noqa: PLW1509 -- there are no threads here
        )
        lines = Lines()
        with child.stdout:
            while True:
                chunk = os.read(child.stdout.fileno(), _CHUNK_BYTES)
                _hand_on(chunk)
                for line in lines.split(chunk):
                    for reader in readers:
                        reader.read(line)
                if not chunk:
                    return child.wait()


@contextlib.contextmanager
def _alarmed():
    """Let the alarm of a pattern's seconds be heard."""
    before = signal.signal(signal.SIGALRM, _too_long)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)


def _read_file(folder, path, reader):
    """Let a reader see each line of a file below the working directory that the script has left."""
    try:
        with os.fdopen(_opened(folder, path), "rb") as file:
            if os.fstat(file.fileno()).st_size > FILE_BYTES:
                raise _Unreadable("it is larger than %d MiB" % (FILE_BYTES // 1024**2))
            lines, left = Lines(), FILE_BYTES
            while True:
                chunk = file.read(min(_CHUNK_BYTES, left))
                left -= len(chunk)
                for line in lines.split(chunk):
                    reader.read(line)
                if not chunk:
                    return
    except _Unreadable as error:
        reason = str(error)
    except FileNotFoundError:
        reason = "the script left no such file in its working directory"
    except OSError as error:
        reason = "it cannot be read: %s" % error.strerror
    reader.refuse("cannot be looked for in the file %r: %s" % (path, reason))


class _Unreadable(Exception):
    """A file that no figure is read from."""


def _opened(folder, path):
    """Open a plain file below a folder. A link within the folder is followed, one out of it never.

    Each part of the resolved path is opened relative to the one above it, so that no link put there since leads away.
    """
    top = os.path.realpath(folder)
    parts = os.path.relpath(os.path.realpath(os.path.join(top, path)), top).split(os.sep)
    if parts[0] == os.pardir:
        raise _Unreadable("it leads out of the working directory through a link")
    descriptor = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    for index, part in enumerate(parts):
        kind = os.O_DIRECTORY if index + 1 < len(parts) else os.O_NONBLOCK
        try:
            inner = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | kind, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = inner
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _Unreadable("it is no plain file")
    return descriptor


class Lines:
    """A cutter of a stream of bytes into lines of at most `LINE_BYTES`. The rest of a line is passed over."""

    def __init__(self):
        self._begun = b""
        self._over = False

    def split(self, chunk):
        """Yield the lines that a chunk ends, as text.

        An empty chunk ends the last line. A carriage return ends a line, too.
        """
        pieces = (self._begun + chunk).replace(b"\r", b"\n").split(b"\n")
        if not chunk:
            pieces.append(b"")
        self._begun = pieces.pop()
        for piece in pieces:
            if not self._over and piece:
                yield piece[:LINE_BYTES].decode("utf-8", "replace")
            self._over = False
        if len(self._begun) > LINE_BYTES:
            if not self._over:
                yield self._begun[:LINE_BYTES].decode("utf-8", "replace")
            self._over = True
            self._begun = b""


def _hand_on(chunk):
    while chunk:
        chunk = chunk[os.write(1, chunk) :]
