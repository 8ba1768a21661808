"""A file of results that is mutated at random is merged as it was collected, or not at all."""

import os
import random
import shutil
import tempfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.bundles.returns.merge import merge
from orchestrator.errors import InputError
from tests.effort import examples
from tests.unit.bundles.returns.returning_runs import content


def _mutated(generator: random.Random, whole: bytes) -> bytes:
    """Change some bytes of a file: of what was compressed, or of the tar in it."""
    inside = generator.random() < 0.7
    data = bytearray(zstandard.ZstdDecompressor().decompressobj().decompress(whole) if inside else whole)
    for _ in range(generator.choice((1, 1, 2, 5))):
        place = generator.randrange(len(data))
        if inside and generator.random() < 0.5:  # headers are where harm is done
            place = 512 * (place // 512) + generator.randrange(160)
        end = min(len(data), place + generator.choice((1, 1, 8, 512, 1024)))
        match generator.randrange(5):
            case 0:
                data[place] ^= 1 << generator.randrange(8)
            case 1:
                del data[place:end]
            case 2:
                data[place:place] = generator.randbytes(end - place)
            case 3:
                data[place:end] = data[: end - place]
            case _:
                data[place] = generator.choice(b"\x000123456789abLgKxS./\n\xff")
    return zstandard.ZstdCompressor(level=1).compress(bytes(data)) if inside else bytes(data)


@settings(max_examples=examples(2000), derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(generator=st.randoms(use_true_random=False))
def test_a_mutated_file_comes_home_unchanged_or_never(
    good: Path, tmp_path_factory: pytest.TempPathFactory, generator: random.Random
) -> None:
    """A mutated file comes home as it was collected, or not at all."""
    # In memory where that can be: most of the time goes into making and removing folders.
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else tmp_path_factory.getbasetemp()))
    path, home = folder / "r.tar.zst", folder / "home"
    path.write_bytes(_mutated(generator, (good / "r.tar.zst").read_bytes()))
    said = ""
    try:
        merge(path, home)
    except InputError as error:
        said = str(error)
    assert said.isprintable(), "one line"
    assert content(home) == ({} if said else content(good / "far"))
    assert sorted(entry.name for entry in folder.iterdir()) == ["home", "r.tar.zst"]
    shutil.rmtree(folder)
