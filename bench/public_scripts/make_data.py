"""Make stand-ins for the data that the public scripts read, from fixed seeds: make_data.py FOLDER."""

import gzip
import io
import pickle
import random
import string
import struct
import sys
import tarfile
from pathlib import Path

import numpy as np

Pictures = tuple[np.ndarray, np.ndarray]

SHORT = (256, 128)  # images of a short MNIST, to train on and to test with
SHORT_LENET = (1_000, 200)  # the fewest of which each part fills a batch of TU Berlin's LeNet
PEOPLE = ["Daniel", "John", "Mary", "Sandra"]
PLACES = ["bathroom", "bedroom", "garden", "hallway", "kitchen", "office"]
THINGS = ["apple", "football", "milk"]
SIGNS = (
    string.digits + "\n!\"'(),-.:;?[]_=äæéë"
)  # with the letters and the space 57 characters, as many as the text has


def pictures(counts: list[int], channels: int, side: int) -> list[Pictures]:
    """Draw images of ten classes in few values, so that they compress well, and their labels."""
    draw = np.random.default_rng(0)
    means = draw.integers(0, 4, (10, channels, side // 4, side // 4))
    drawn = []
    for count in counts:
        labels = draw.integers(0, 10, count).astype(np.uint8)
        noisy = (means[labels] + draw.integers(0, 2, (count, *means.shape[1:]))).astype(np.uint8) * 50
        drawn.append((noisy.repeat(4, axis=2).repeat(4, axis=3), labels))
    return drawn


def mnist(folder: Path) -> None:
    """Write MNIST as Keras stores it, whole and short, and short in the published format."""
    parts = dict(zip(("train", "test"), pictures([60_000, 10_000], 1, 28), strict=True))
    for name, train, test in (("mnist", 60_000, 10_000), ("mnist-short", *SHORT)):
        arrays = {}
        for part, count in (("train", train), ("test", test)):
            images, labels = parts[part]
            arrays |= {f"x_{part}": images[:count, 0], f"y_{part}": labels[:count]}
        np.savez_compressed(folder / f"{name}.npz", **arrays)
    (folder / "lenet_data").mkdir(exist_ok=True)
    for name, (images, labels), count in zip(("train", "t10k"), parts.values(), SHORT_LENET, strict=True):
        for kind, array in (("images-idx3", images[:count, 0]), ("labels-idx1", labels[:count])):
            header = struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
            packed = gzip.compress(header + array.tobytes(), 1, mtime=0)
            (folder / "lenet_data" / f"{name}-{kind}-ubyte.gz").write_bytes(packed)


def archive(path: Path, files: dict[str, bytes]) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    path.write_bytes(gzip.compress(buffer.getvalue(), 6, mtime=0))


def cifar10(folder: Path) -> None:
    """Write CIFAR-10 in the format for Python."""
    files = {"batches.meta": pickle.dumps({"label_names": [f"class {each}" for each in range(10)]}, protocol=2)}
    names = [f"data_batch_{each}" for each in range(1, 6)] + ["test_batch"]
    for name, (images, labels) in zip(names, pictures([10_000] * 6, 3, 32), strict=True):
        content = pickle.dumps({b"data": images.reshape(-1, 3072), b"labels": labels.tolist()}, protocol=2)
        files[name] = content.replace(b"numpy._core.multiarray\n", b"numpy.core.multiarray\n")  # for old NumPy
    archive(folder / "cifar-10-batches-py.tar.gz", {f"cifar-10-batches-py/{name}": files[name] for name in files})


def stories(count: int, seed: int, *, things: bool) -> bytes:
    """Return stories in bAbI's format: of task 2 with things, of task 1 without."""
    pick, lines = random.Random(seed), []
    for _ in range(count):
        story: list[str] = []
        for _ in range(5):
            who, thing, places = pick.choice(PEOPLE), pick.choice(THINGS), pick.sample(PLACES, 2)
            story += [f"{who} took the {thing} there."] * things
            story += [f"{who} went to the {place}." for place in places]
            what, facts = (f"the {thing}", f"{len(story) - 2} {len(story)}") if things else (who, f"{len(story)}")
            story.append(f"Where is {what}? \t{places[-1]}\t{facts}")
        lines += [f"{number} {line}\n" for number, line in enumerate(story, 1)]
    return "".join(lines).encode()


def babi(folder: Path) -> None:
    """Write tasks 1 and 2 of bAbI in the published layout."""
    files = {
        "en/qa2_two-supporting-facts_train.txt": stories(20, 1, things=True),
        "en/qa2_two-supporting-facts_test.txt": stories(10, 2, things=True),
        "en-10k/qa1_single-supporting-fact_train.txt": stories(40, 3, things=False),
        "en-10k/qa1_single-supporting-fact_test.txt": stories(10, 4, things=False),
    }
    archive(folder / "babi-tasks-v1-2.tar.gz", {f"tasks_1-20_v1-2/{name}": files[name] for name in files})


def text(path: Path, length: int) -> None:
    """Write words and signs in about as many characters as asked for."""
    pick, words = random.Random(5), [string.ascii_lowercase, SIGNS]
    while sum(map(len, words)) + len(words) < length:
        sign = pick.choice(SIGNS) if pick.random() < 0.1 else ""
        words.append("".join(pick.choices(string.ascii_lowercase, k=pick.randint(2, 9))) + sign)
    path.write_text(" ".join(words), encoding="utf-8")


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    mnist(folder)
    cifar10(folder)
    babi(folder)
    text(folder / "nietzsche-short.txt", 3_000)
    text(folder / "nietzsche.txt", 6_000)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
