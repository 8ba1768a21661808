"""Checks of the images that a matrix names for releases of CUDA."""

import re
from collections.abc import Iterator

from orchestrator.catalog import Catalog
from orchestrator.catalog.source import Mistake, Source
from orchestrator.matrix.values import kinds
from orchestrator.wording import listing


def mistakes(source: Source, catalog: Catalog) -> Iterator[Mistake]:
    """Yield a mistake for every release of CUDA that no build of the catalog takes from an image."""
    build = source.value.get("build")
    images = build.get("cuda_images") if isinstance(build, dict) else None
    known = catalog.cuda_image_releases()
    for release in images if isinstance(images, dict) else ():
        if re.fullmatch(kinds.CUDA, str(release)) and str(release) not in known:
            text = f"no build takes CUDA {release} from an image; drop this, or name one of {listing(known)}"
            yield source.mistake(("build", "cuda_images", release), text, key=True)
