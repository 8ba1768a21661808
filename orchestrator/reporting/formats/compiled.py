"""The compiled templates of pages, kept next to them as Python keeps its modules."""

import contextlib
import sys
from pathlib import Path

from jinja2.bccache import Bucket, FileSystemBytecodeCache

_NAMES = "%s.pyc"


class CompiledTemplates(FileSystemBytecodeCache):
    """A cache in a folder of the program. Where it cannot be written, each command compiles what it uses.

    What is kept counts for the text that it was made from, and for one version of Python and of Jinja.
    """

    def __init__(self, templates: Path) -> None:
        super().__init__(str(templates / "__pycache__"), _NAMES)

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load what is kept of a template."""
        with contextlib.suppress(OSError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a compiled template, unless Python keeps no modules either."""
        if sys.dont_write_bytecode:
            return
        with contextlib.suppress(OSError):
            Path(self.directory).mkdir(exist_ok=True)
            super().dump_bytecode(bucket)
