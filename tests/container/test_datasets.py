"""Data for models, and their accuracy on it, in NumPy without a framework."""

import gzip
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from container_support import request_of

from benchmarks.errors import BadRequest, Diverged, Failure, Unsupported
from benchmarks.inputs import datasets, digits, pictures
from benchmarks.models.convolutional import lenet
from benchmarks.models.dense import mlp
from benchmarks.timing import evaluation
from benchmarks.workload import ModelWorkload


def model(shape: tuple[int, ...] = (1, 28, 28), classes: int = 10) -> Any:
    return SimpleNamespace(INPUT_SHAPE=shape, CLASSES=classes, SAMPLES=48000)


def drawn(name: str = "digits", seed: int = 0, **changes: Any) -> Any:
    return datasets.named(name, model(**changes), seed)


def passes(batch_size: int, count: int, **changes: Any) -> tuple[np.ndarray, np.ndarray]:
    inputs, labels = zip(*drawn(**changes).batches(batch_size, count), strict=True)
    return np.concatenate(inputs), np.concatenate(labels)


def test_digits_are_1797_images_split_by_seed() -> None:
    """The digits are 1797 images of ten classes, split by the seed."""
    split, other = digits.load(0), digits.load(1)

    assert (len(split.training), len(split.testing)) == (1437, 360)
    assert sorted(np.bincount(np.concatenate([split.training_labels, split.testing_labels]))) == sorted(
        [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    )
    assert (split.training.max(), split.training.min()) == (16, 0)
    assert not np.array_equal(split.testing, other.testing)
    rows = {image.tobytes() for image in split.training}
    assert not any(image.tobytes() in rows for image in split.testing), "no test image is among the training images"


def test_damaged_digits_file_is_refused(tmp_path: Path) -> None:
    """A changed digits file is refused by its checksum, and a cut one because it cannot be read."""
    data = bytearray(gzip.decompress(Path(digits.PATH).read_bytes()))
    data[5000] ^= 1
    (tmp_path / "changed.gz").write_bytes(gzip.compress(bytes(data)))
    (tmp_path / "cut.gz").write_bytes(Path(digits.PATH).read_bytes()[:-100])

    with pytest.raises(Failure, match="checksum"):
        digits.load(0, str(tmp_path / "changed.gz"))
    with pytest.raises(Failure, match="cannot be read"):
        digits.load(0, str(tmp_path / "cut.gz"))


def test_image_is_enlarged_whole_and_centred_on_zeros() -> None:
    """An image is enlarged by a whole factor and centred on zeros."""
    image = np.arange(1, 5, dtype=np.uint8).reshape(1, 1, 2, 2)

    (fitted,) = pictures.fitted(image, (1, 7, 5), 4)

    assert fitted[0].tolist() == [
        [0, 0, 0, 0, 0],
        [0.25, 0.25, 0.5, 0.5, 0],
        [0.25, 0.25, 0.5, 0.5, 0],
        [0.75, 0.75, 1, 1, 0],
        [0.75, 0.75, 1, 1, 0],
        [0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
    ]


def test_digits_take_the_shape_of_each_model() -> None:
    """Digits fill 24 of LeNet's 28 pixels, repeat in colours, and lie flat for the MLP."""
    images, _ = drawn().held_out()
    colours, _ = drawn(shape=(3, 32, 32)).held_out()
    flat, _ = drawn(shape=(784,)).held_out()

    assert images.shape == (360, 1, 28, 28)
    assert (images[:, :, :2].max(), images[:, :, :, -2:].max(), images.max()) == (0, 0, 1)
    assert np.array_equal(images[:, :, 2:26:3, 2:26:3], images[:, :, 4:26:3, 4:26:3])
    assert np.array_equal(colours[:, 0], colours[:, 2])
    assert np.array_equal(flat, images.reshape(360, 784))


def test_epochs_deal_samples_once_in_their_own_order() -> None:
    """Seven batches of 200 leave 37 samples out of a pass, other ones in each."""
    first, _ = passes(200, 7)
    both, both_labels = passes(200, 14)

    assert np.array_equal(both[:1400], first)
    assert len({image.tobytes() for image in first}) >= 1395, "a handful of digits were drawn alike"
    assert not np.array_equal(both_labels[:1400], both_labels[1400:])
    again, _ = passes(200, 14)
    assert np.array_equal(both, again)
    other, _ = passes(200, 7, seed=1)
    assert not np.array_equal(first, other)


def test_each_epoch_has_own_batches_while_they_fit() -> None:
    assert drawn().batch_count(200, 5) == 35
    assert drawn().batch_count(200, None) == 7
    assert drawn().batch_count(32, 10_000) == 44 * ((1 << 30) // (4 * 784 * 32 * 44))
    assert drawn(shape=(3, 800, 800)).batch_count(32, 3) == 44, "never less than an epoch"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shape": (1, 7, 28)}, "does not fit"),
        ({"shape": (50, 50)}, "does not fit"),
        ({"shape": (783,)}, "does not fit"),
        ({"classes": 9}, "more classes"),
    ],
)
def test_model_unfit_for_digits_is_a_bad_request(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        drawn(**changes)


def test_an_unknown_dataset_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="has 'synthetic' and 'digits'"):
        drawn("mnist")


def test_batch_beyond_training_set_is_bad_request() -> None:
    """A batch larger than the training set is a bad request."""
    with pytest.raises(BadRequest, match="more than the 1437 samples"):
        ModelWorkload(request_of(dataset="digits", batch_size=1438), lenet, {})


def test_synthetic_held_out_samples_share_the_means() -> None:
    """Synthetic held-out samples lie around the same means, and seen ones are those of the batches."""
    data = datasets.named("synthetic", mlp, 0)
    inputs, labels = next(iter(data.batches(32, 1)))

    seen, seen_labels = data.seen(32)
    held_out, held_out_labels = data.held_out()

    assert seen.shape == held_out.shape == (1000, 784)
    assert np.array_equal(seen[:32], inputs)
    assert np.array_equal(seen_labels[:32], labels)
    assert not np.array_equal(seen_labels, held_out_labels)
    lenets = datasets.named("synthetic", lenet, 0)
    means = [np.mean(lenets.seen(200)[0][lenets.seen(200)[1] == label], axis=0) for label in range(10)]
    tested, tested_labels = lenets.held_out()
    distances = np.array([[np.square(image - mean).sum() for mean in means] for image in tested])
    assert (distances.argmin(axis=1) == tested_labels).mean() > 0.95


def nearest(inputs: np.ndarray) -> np.ndarray:
    """Logits that favour the brightest of ten stripes."""
    stripes: np.ndarray = 10 * inputs.reshape(len(inputs), 10, -1).mean(axis=2)
    return stripes


def test_loss_and_accuracy_take_each_sample_once() -> None:
    """Loss and accuracy are those of the softmax over every sample, each taken once."""
    random = np.random.RandomState(0)
    inputs, labels = random.uniform(size=(25, 10)).astype(np.float32), random.randint(0, 10, 25)
    sizes = []

    def predict(batch: np.ndarray) -> np.ndarray:
        sizes.append(len(batch))
        return nearest(batch)

    scored = evaluation.scores(predict, (inputs, labels), 10, 10)

    logits = nearest(inputs).astype(np.float64)
    softmax = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert scored == (
        pytest.approx(-np.log(softmax[np.arange(25), labels]).mean()),
        (softmax.argmax(axis=1) == labels).mean(),
    )
    assert sizes == [10, 10, 10], "every call gets a full batch"


def test_no_prediction_means_no_evaluation() -> None:
    """A session that predicts nothing is not evaluated, and one that diverged is no measurement."""
    data = drawn()

    assert evaluation.evaluator(SimpleNamespace(), data, 32, 10)() is None
    assert evaluation.evaluator(SimpleNamespace(predict=lambda _: None), data, 32, 10)() is None
    with pytest.raises(Diverged):
        evaluation.evaluator(SimpleNamespace(predict=lambda batch: np.full((32, 10), np.nan)), data, 32, 10)()
    with pytest.raises(Failure, match="shape"):
        evaluation.evaluator(SimpleNamespace(predict=lambda batch: np.zeros((32, 9))), data, 32, 10)()


def test_evaluation_scores_seen_and_held_out_samples() -> None:
    """An evaluation has the loss of seen samples and the accuracy of held-out ones."""
    data = SimpleNamespace(
        seen=lambda batch_size: (np.eye(10, dtype=np.float32), np.arange(10)),
        held_out=lambda: (np.eye(10, dtype=np.float32), np.zeros(10, int)),
    )

    said = evaluation.evaluator(SimpleNamespace(predict=lambda batch: 50 * batch), data, 10, 10)()

    assert said["train_loss"] < 1e-9
    assert said["test_loss"] == pytest.approx(45.0)
    assert said["test_accuracy"] == 0.1
