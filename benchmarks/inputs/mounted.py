"""Datasets from a folder of the user's own, in their original formats, compared with known checksums.

A member is looked for as it is, gzipped (`NAME.gz`), in the folder that its archive unpacks to, and in the archive.
Checksums are of the unpacked bytes. `orchestrator/catalog/mounted.py` looks in the same order before a run begins.
"""

import gzip
import hashlib
import json
import os
import tarfile
import zlib

from benchmarks.errors import BadRequest
from benchmarks.inputs.pictures import Split

FOLDER = "/data"
PUBLISHED = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "published.json")
"""The file of published datasets, with their formats and the checksum of every member."""
ARCHIVES = {
    "cifar-binary": ("cifar-10-batches-bin", "cifar-10-binary.tar.gz"),
    "cifar-python": ("cifar-10-batches-py", "cifar-10-python.tar.gz"),
}
HIGHEST = 255
_IDX_BYTES = 0x08
"""The third byte of the magic number, for unsigned bytes. The last one is the number of dimensions."""


def published():
    """Read the published datasets, by name."""
    with open(PUBLISHED, encoding="utf-8") as file:
        return json.load(file)


def described(name, folder):
    """Describe a published dataset in a folder as a request does. Raises `BadRequest` if it is incomplete."""
    known = published()
    if name not in known:
        raise BadRequest("no published dataset is called '%s'; there is %s" % (name, ", ".join(sorted(known))))
    entry = known[name]
    formats = entry["formats"]
    complete = [each for each in sorted(formats) if all(_holds(folder, each, member) for member in formats[each])]
    if not complete:
        raise BadRequest("%s does not hold the files of %s; they are at %s" % (folder, name, entry["where"]))
    shape = {key: entry[key] for key in ("image", "classes", "training", "testing")}
    return dict(shape, folder=folder, format=complete[0], files=formats[complete[0]])


def load(data):
    """Read the dataset that a request describes. Raises `BadRequest` if the files do not match the description."""
    members, sums = {}, []
    for name, wanted in data["files"].items():
        content = _read(data["folder"], data["format"], name)
        algorithm, _, expected = wanted.partition(":")
        if hashlib.new(algorithm, content).hexdigest() != expected:
            raise BadRequest("%s in %s is not the file it should be: its checksum is another" % (name, data["folder"]))
        sums.append("%s  %s\n" % (hashlib.sha256(content).hexdigest(), name))
        members[name] = content
    training, testing = {"idx": _idx, "cifar-binary": _cifar_binary, "cifar-python": _cifar_python}[data["format"]](
        members, tuple(data["image"])
    )
    for (images, labels), count in ((training, data["training"]), (testing, data["testing"])):
        if images.shape != (count,) + tuple(data["image"]) or labels.shape != (count,):
            message = "%s holds images %s and labels %s, not the %d images asked for"
            raise BadRequest(message % (data["folder"], images.shape, labels.shape, count))
        if int(labels.max()) >= data["classes"]:
            raise BadRequest("%s has a label %d, beyond its classes" % (data["folder"], labels.max()))
    return Split(*(training + testing + (HIGHEST, hashlib.sha256("".join(sums).encode()).hexdigest())))


def _places(folder, kind, name):
    """Return the paths where a member may lie, each with True if the file is gzipped."""
    places = [(os.path.join(folder, name), False), (os.path.join(folder, name + ".gz"), True)]
    if kind in ARCHIVES:
        places.append((os.path.join(folder, ARCHIVES[kind][0], name), False))
    return places


def _holds(folder, kind, name):
    paths = [path for path, _ in _places(folder, kind, name)]
    if kind in ARCHIVES:
        paths.append(os.path.join(folder, ARCHIVES[kind][1]))
    return any(os.path.isfile(path) for path in paths)


def _read(folder, kind, name):
    for path, gzipped in _places(folder, kind, name):
        if os.path.isfile(path):
            try:
                with gzip.open(path) if gzipped else open(path, "rb") as file:
                    return file.read()
            except (OSError, EOFError, zlib.error) as error:
                raise BadRequest("%s cannot be read: %s" % (path, error)) from None
    if kind in ARCHIVES:
        inner, archive = ARCHIVES[kind]
        path = os.path.join(folder, archive)
        try:
            with tarfile.open(path) as opened:
                return opened.extractfile(inner + "/" + name).read()
        except (OSError, EOFError, KeyError, zlib.error, tarfile.TarError) as error:
            raise BadRequest("%s cannot be read: %s" % (path, error)) from None
    raise BadRequest("%s is missing in %s" % (name, folder))


def _idx(members, _image):
    """Read MNIST's own format, which is a magic number, the extents, big-endian, then bytes."""
    names = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
    images, labels, test_images, test_labels = [_array(members[name], name) for name in names]
    return (images[:, None], labels), (test_images[:, None], test_labels)


def _array(content, name):
    import numpy

    dimensions = 3 if "idx3" in name else 1
    extents = numpy.frombuffer(content[4 : 4 + 4 * dimensions], ">u4")
    if content[:4] != bytes([0, 0, _IDX_BYTES, dimensions]) or len(extents) != dimensions:
        raise BadRequest("%s is no idx file of %d dimensions" % (name, dimensions))
    values = numpy.frombuffer(content, numpy.uint8, offset=4 + 4 * dimensions)
    if values.size != int(numpy.prod(extents.astype(numpy.int64))):
        raise BadRequest("%s is cut: it holds %d values" % (name, values.size))
    return values.reshape([int(extent) for extent in extents])


def _cifar_binary(members, image):
    """Read CIFAR's binary version, in which an image is a byte of label, then its channels one after another."""
    import numpy

    def rows(content):
        record = 1 + int(numpy.prod(image))
        if len(content) % record:
            raise BadRequest("a batch of %d bytes is no whole number of images" % len(content))
        values = numpy.frombuffer(content, numpy.uint8).reshape(-1, record)
        return values[:, 1:].reshape((-1,) + image), values[:, 0]

    return _joined(members, rows)


def _cifar_python(members, image):
    """Read CIFAR's Python version, whose batches are dictionaries of `data` and `labels`, pickled by Python 2."""
    import numpy

    def rows(content):
        batch = _unpickled(content)
        return numpy.asarray(batch[b"data"]).reshape((-1,) + image), numpy.array(batch[b"labels"], numpy.uint8)

    return _joined(members, rows)


def _joined(members, rows):
    import numpy

    testing = [name for name in members if name.startswith("test")]
    batches = [rows(members[name]) for name in members if name not in testing]
    training = tuple(numpy.concatenate(parts) for parts in zip(*batches))
    return training, rows(members[testing[0]])


def _unpickled(content):
    """Unpickle NumPy's arrays, and refuse anything else that a pickle may call."""
    import io
    import pickle

    import numpy

    known = {"_reconstruct": numpy.zeros(0).__reduce__()[0], "ndarray": numpy.ndarray, "dtype": numpy.dtype}

    class Arrays(pickle.Unpickler):
        def find_class(self, module, name):
            if module.split(".")[0] == "numpy" and name in known:
                return known[name]
            raise BadRequest("a batch asks for %s.%s, which no batch of CIFAR does" % (module, name))

    return Arrays(io.BytesIO(content), encoding="bytes").load()
