"""The parts of a bundle besides its images, in the order in which they are written."""

import re
import shutil
from pathlib import Path

from orchestrator.bundles.format import layout
from orchestrator.bundles.format.sources import FolderSource
from orchestrator.bundles.write.bills import write_bills, write_provenance
from orchestrator.bundles.write.plan_files import write_plan
from orchestrator.bundles.write.program import write_program
from orchestrator.bundles.write.request import Export, Part
from orchestrator.results.files import frozen as frozen_files

_ONLY_SERVED = re.compile(r".*\.map|search/search_index\.json|sitemap\.xml.*|404\.html|.*/lunr/.*")
"""Files of a site that its pages do not read when they are opened from disk."""


def all_parts(*, orchestrator: bool) -> tuple[Part, ...]:
    """Return every part, with or without the orchestrator itself."""
    parts: tuple[Part, ...] = (write_plan, write_frozen, write_data, write_documentation, write_bills, write_provenance)
    return (*parts, write_program) if orchestrator else parts


def write_frozen(export: Export) -> None:
    """Write the scripts and networks of the matrix with all their files. Raises as `frozen_files.freeze` does."""
    frozen_files.freeze(export.folder, export.frozen)


def write_data(export: Export) -> None:
    """Write each dataset into a folder of its name."""
    for name, folder in export.data:
        _copy(folder, export.folder / layout.DATA / name)


def write_documentation(export: Export) -> None:
    """Write the pages of a documentation site, without what only a web server or a developer of its theme needs."""
    if export.documentation is not None:
        _copy(export.documentation, export.folder / layout.DOCUMENTATION, leave_out=_ONLY_SERVED)


def _copy(folder: Path, target_folder: Path, leave_out: re.Pattern[str] | None = None) -> None:
    source = FolderSource(folder)
    for path in source.sizes:
        if leave_out is not None and leave_out.fullmatch(path):
            continue
        target = target_folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with source.open(path) as file, target.open("wb") as copy:
            shutil.copyfileobj(file, copy, 1 << 20)
