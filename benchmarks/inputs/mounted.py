"""Datasets from a folder of the user's own, in their original formats, compared with known checksums.

A member is looked for as it is, gzipped (`NAME.gz`), in the folder that its archive unpacks to, and in the archive.
Checksums are of the unpacked bytes. `orchestrator/catalog/datasets.py` looks in the same order before a run begins.
"""

import gzip
import hashlib
import json
import os
import tarfile
import zlib

from benchmarks.errors import BadRequest
from benchmarks.inputs.dealt import Split

FOLDER = "/data"
PUBLISHED = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "published.json")
"""The file of published datasets, with their formats and the checksum of every member."""
ARCHIVES = {
    "cifar-binary": ("cifar-10-batches-bin", "cifar-10-binary.tar.gz"),
    "cifar-python": ("cifar-10-batches-py", "cifar-10-python.tar.gz"),
}
HIGHEST = 255
_IDX_TYPES = {"ubyte": (0x08, ">u1"), "short": (0x0B, ">i2")}
"""The third byte of the magic number by the end of a file's name, and the type of its values.

The last byte of the magic number is the number of dimensions.
"""


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
    read = {"idx": _idx, "cifar-binary": _cifar_binary, "cifar-python": _cifar_python}[data["format"]]
    training, testing = read(members, data)
    for (samples, labels), count in ((training, data["training"]), (testing, data["testing"])):
        _check(data, samples, labels, count)
    return Split(*(training + testing + (HIGHEST, hashlib.sha256("".join(sums).encode()).hexdigest())))


def _check(data, samples, labels, count):
    """Raise `BadRequest` unless samples and labels are as many, as large and as low as a request says."""
    if data.get("inputs"):
        held = [each.shape for each in samples]
        expected = [(count, each["length"]) for each in data["inputs"]]
        for rows, each in zip(samples, data["inputs"]):
            if int(rows.min()) < 0 or int(rows.max()) >= each["vocabulary"]:
                raise BadRequest("%s has a number %d, beyond the vocabulary" % (each["name"], rows.max()))
    else:
        held, expected = samples.shape, (count,) + tuple(data["image"])
    if held != expected or labels.shape != (count,):
        message = "%s holds samples %s and labels %s, not the %d samples asked for"
        raise BadRequest(message % (data["folder"], held, labels.shape, count))
    if int(labels.min()) < 0 or int(labels.max()) >= data["classes"]:
        raise BadRequest("%s has a label %d, beyond its classes" % (data["folder"], labels.max()))


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


def _idx(members, data):
    """Read MNIST's own format, which is a magic number, the extents, then big-endian values.

    A file is named by its part, what it holds, and the form of its values, as `train-images-idx3-ubyte`.
    """
    names = [each["name"] for each in data.get("inputs") or ()]
    return tuple(_idx_part(members, part, names) for part in ("train", "t10k"))


def _idx_part(members, part, names):
    """Return the samples and labels of one part, where images of one channel have no extent for it."""
    arrays = {}
    for member in members:
        of_part, holds, _, _ = member.rsplit("-", 3)
        if of_part == part:
            arrays[holds] = _array(members[member], member)
    if names:
        return tuple(arrays[name] for name in names), arrays["labels"]
    images = arrays["images"]
    return (images[:, None] if images.ndim == 3 else images), arrays["labels"]


def _array(content, name):
    import numpy

    form, ending = name.rsplit("-", 2)[1:]
    dimensions, (number, kind) = int(form[len("idx") :]), _IDX_TYPES[ending]
    extents = numpy.frombuffer(content[4 : 4 + 4 * dimensions], ">u4")
    if content[:4] != bytes([0, 0, number, dimensions]) or len(extents) != dimensions:
        raise BadRequest("%s is no idx file of %d dimensions" % (name, dimensions))
    values = numpy.frombuffer(content, kind, offset=4 + 4 * dimensions)
    if values.size != int(numpy.prod(extents.astype(numpy.int64))):
        raise BadRequest("%s is cut: it holds %d values" % (name, values.size))
    return values.reshape([int(extent) for extent in extents])


def _cifar_binary(members, data):
    """Read CIFAR's binary version, in which an image is a byte of label, then its channels one after another."""
    import numpy

    image = tuple(data["image"])

    def rows(content):
        record = 1 + int(numpy.prod(image))
        if len(content) % record:
            raise BadRequest("a batch of %d bytes is no whole number of images" % len(content))
        values = numpy.frombuffer(content, numpy.uint8).reshape(-1, record)
        return values[:, 1:].reshape((-1,) + image), values[:, 0]

    return _joined(members, rows)


def _cifar_python(members, data):
    """Read CIFAR's Python version, whose batches are dictionaries of `data` and `labels`, pickled by Python 2."""
    import numpy

    def rows(content):
        batch = _unpickled(content)
        images = numpy.asarray(batch[b"data"]).reshape((-1,) + tuple(data["image"]))
        return images, numpy.array(batch[b"labels"], numpy.uint8)

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
