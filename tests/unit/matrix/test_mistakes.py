# ruff: noqa: E501 — each message stands on one line, as it is printed
from pathlib import Path

import pytest

from orchestrator import catalog, matrix
from orchestrator.errors import InputError

Models = dict[str, catalog.ModelInfo]
HEAD = "version: 1\n"
SMALL = "version: 1\nframeworks: [mxnet==1.9.1]\nmodels: [lenet]\n"


def mistakes(tmp_path: Path, text: str, known: catalog.Catalog, models: Models) -> list[str]:
    path = tmp_path / "m.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        matrix.load(path, known, models)
    return [message.removeprefix(f"{tmp_path}/") for message in caught.value.messages]


BAD = """\
version: 1
nam: x
systems:
  cpu: {cpus: 0, memory: 8q}
  GPU: {gpus: -1}
  cpu: {}
frameworks:
  - mxnett==1.9.1
  - mxnet
  - mxnet==1.9.1
  - mxnet==1.9.1
  - noop==1 on mxnet==1.5.1
  - keras-mxnet==2.2.4.3
  - {name: torch, version: [2.1, 2.1], python: 3.10, image: a, dockerfile: b, options: {layuot: first}}
  - 5
models:
  - lenett
  - {name: mlp, batch_size: [32, 0], steps: 5, epochs: 2, batchsize: 3}
  - {name: lenet, batch_size: .nan}
modes: [train, trian]
options:
  mxnet: {hybridize: [true, 1]}
  torhc: {layout: auto}
repeats: 0
steps: 3
epochs: 1
timeout: 10 parsecs
exclude:
  - {framework: mxnet, system: 4_gpu, hybridze: true}
  - {}
include:
  - {framework: mxnet}
build: {base_image: "a{b}", proxy: 3}
"""
WRONG = """\
m.yaml:2:1: unknown key 'nam'; did you mean 'name'?
m.yaml:4:15: systems.cpu.cpus: should be at least 1, not 0
m.yaml:4:26: systems.cpu.memory: '8q' is no size; write 8g, 512m or a number of bytes
m.yaml:5:3: systems: 'GPU' should be lowercase letters, digits, '_', '-' and '.'
m.yaml:5:15: systems.GPU.gpus: should be at least 0, not -1
m.yaml:6:3: systems: duplicate key 'cpu'; the first is on line 4
m.yaml:8:5: frameworks: unknown framework 'mxnett'; did you mean 'mxnet'?
m.yaml:9:5: frameworks: 'mxnet' needs a version, such as mxnet==1.9.1
m.yaml:11:5: frameworks: mxnet 1.9.1 is already on line 10
m.yaml:12:5: frameworks: 'noop' runs on no backend; drop 'on mxnet==1.5.1'
m.yaml:13:5: frameworks: 'keras-mxnet' needs a backend: keras-mxnet==VERSION on mxnet==VERSION
m.yaml:14:28: frameworks.version: lists '2.1' twice
m.yaml:14:40: frameworks: your own image decides its python; drop this
m.yaml:14:64: frameworks: image and dockerfile exclude each other; keep one
m.yaml:14:76: frameworks.dockerfile: there is no file 'b'; relative paths start at the folder of the matrix
m.yaml:14:89: frameworks.options: unknown torch option 'layuot'; did you mean 'layout'?
m.yaml:15:5: frameworks: should be a pin such as mxnet==1.9.1, or a mapping, not 5
m.yaml:17:5: models: unknown model 'lenett'; did you mean 'lenet'?
m.yaml:18:34: models.batch_size: should be at least 1, not 0
m.yaml:18:48: models: steps and epochs exclude each other; keep one
m.yaml:18:59: models: unknown key 'batchsize'; did you mean 'batch_size'?
m.yaml:19:31: models.batch_size: should be a whole number, not .nan
m.yaml:20:16: modes: should be 'train', 'infer', 'requests' or 'generate', not 'trian'; did you mean 'train'?
m.yaml:22:22: options.mxnet.hybridize: 1 is no value of hybridize; there is true, false
m.yaml:23:3: options: unknown framework 'torhc'; did you mean 'torch'?
m.yaml:24:10: repeats: should be at least 1, not 0
m.yaml:26:1: steps and epochs exclude each other; keep one
m.yaml:27:10: timeout: '10 parsecs' is no duration; write 90s, 10m, 1h30m or a number of seconds
m.yaml:29:32: exclude.system: unknown system '4_gpu'; did you mean 'GPU'?
m.yaml:29:39: exclude: unknown key or option 'hybridze'; did you mean 'hybridize'?
m.yaml:30:5: exclude: names no cells; give a framework, system, model, …
m.yaml:32:5: include: sets nothing, and adds nothing without framework==version, system and model
m.yaml:33:21: build.base_image: 'a{b}': the only placeholder is {python}
m.yaml:33:36: build.proxy: should be a URL, or a mapping, not 3
"""


def test_all_mistakes_are_reported_in_file_order(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    """Every mistake of a matrix is reported at once, in the order of the file."""
    assert mistakes(tmp_path, BAD, known, models) == WRONG.splitlines()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "m.yaml:1:1: the file is empty"),
        ("- 1\n", "m.yaml:1:1: a matrix is a mapping that begins with `version: 1`"),
        ("version: 2\nfuture: x\n", "m.yaml:1:10: version: 2 is newer than this orchestrator reads (1): upgrade it"),
        ("version: one\nframeworks: [noop==1]\nmodels: [mlp]\n", "m.yaml:1:10: version: should be 1, not 'one'"),
        ("frameworks: [noop==1]\nmodels: [mlp]\n", "m.yaml:1:1: 'version' is missing"),
        (SMALL + "exclude: {}\n", "m.yaml:4:10: exclude: should be a list, not a mapping"),
        (SMALL + "systems: {}\n", "m.yaml:4:10: systems: is empty"),
        (SMALL + "modes: []\n", "m.yaml:4:8: modes: is an empty list, which leaves nothing to run; name a value or drop the key"),
        (SMALL + "repeats: true\n", "m.yaml:4:10: repeats: should be a whole number, not true"),
        (SMALL + "repeats: 2.5\n", "m.yaml:4:10: repeats: should be a whole number, not 2.5"),
        (SMALL + "repeats: 99999\n", "m.yaml:4:10: repeats: should be at most 10000, not 99999"),
        (SMALL + "seed: -1\n", "m.yaml:4:7: seed: should be at least 0, not -1"),
        (SMALL + "name: ../up\n", "m.yaml:4:7: name: '../up' should be a word of letters, digits, '.', '_', '+' and '-'"),
        (SMALL + "timeout: 0\n", "m.yaml:4:10: timeout: 0 is no time at all; write 10m, for example"),
        (SMALL + "timeout: .nan\n", "m.yaml:4:10: timeout: nan is no time at all; write 10m, for example"),
        (SMALL + "timeout: -5s\n", "m.yaml:4:10: timeout: '-5s' is no duration; write 90s, 10m, 1h30m or a number of seconds"),
        (SMALL + "timeout: 99999h\n", "m.yaml:4:10: timeout: 99999h is longer than 30 days"),
        (SMALL + "systems: {a: {memory: -1g}}\n", "m.yaml:4:23: systems.a.memory: '-1g' is no size; write 8g, 512m or a number of bytes"),
        (SMALL + "systems: {a: {memory: 8}}\n", "m.yaml:4:23: systems.a.memory: 8 is less than the 6 MiB a container needs; write 8g, for example"),
        (SMALL + "systems: {a: 3}\n", "m.yaml:4:14: systems.a: should be a mapping, not 3"),
        (SMALL.replace("[lenet]", "[{name: lenet, dataset: imagenet}]"), "m.yaml:3:33: models.dataset: unknown dataset 'imagenet'; there is synthetic, digits, mnist, fashion-mnist, cifar10, mnist-10k"),
        (SMALL.replace("[lenet]", "[lenet, {name: lenet, batch_size: 200}]"), "m.yaml:3:17: models: lenet with batch size 200 is already on line 3"),
        (SMALL.replace("[mxnet==1.9.1]", "[mxnet==1.9.1, mxnet==1.9.1]"), "m.yaml:2:28: frameworks: mxnet 1.9.1 is already on line 2"),
        (SMALL.replace("[lenet]", "[{batch_size: 3}]"), "m.yaml:3:10: models: 'name' is missing"),
        (SMALL.replace("mxnet==1.9.1", "mxnet>=1.9.1"), "m.yaml:2:14: frameworks: 'mxnet>=1.9.1' must name one version with '=='; several are a list of versions"),
        (SMALL.replace("mxnet==1.9.1", "mxnet=1.9.1"), "m.yaml:2:14: frameworks: '=1.9.1' in 'mxnet=1.9.1' is no range of versions such as '==1.9.1' or '<2'"),
        (SMALL.replace("mxnet==1.9.1", "mxnet==newest"), "m.yaml:2:14: frameworks: 'newest' is no version such as '1.9.1'"),
        (SMALL.replace("mxnet==1.9.1", "keras-mxnet==2.2.4.3 on torch==2.0"), "m.yaml:2:14: frameworks: unknown backend of keras-mxnet 'torch'; there is mxnet, mxnet-mkl"),
        (SMALL.replace("mxnet==1.9.1", "keras-mxnet==2.2.4.3 on mxnet"), "m.yaml:2:14: frameworks: 'mxnet' needs one version: mxnet==VERSION"),
        (SMALL.replace("mxnet==1.9.1", "{name: mxnet, version: 1.9.1, packages: {numpy: newest}}"), "m.yaml:2:62: frameworks.packages.numpy: 'newest' is no version such as '1.9.1'"),
        (SMALL.replace("mxnet==1.9.1", "{name: mxnet, version: 1.9.1, python: 3}"), "m.yaml:2:52: frameworks.python: '3' should be a Python version such as '3.11'"),
        (SMALL.replace("mxnet==1.9.1", "{name: torch, version: [a, b], image: i}"), "m.yaml:2:37: frameworks.version: your own image holds one version; write an entry for each image"),
        (SMALL + "options: {mxnet: {hybridize: []}}\n", "m.yaml:4:30: options.mxnet.hybridize: is an empty list, which leaves nothing to run; name a value or drop the key"),
        (SMALL + "options: {'*': {hybridize: maybe}}\n", "m.yaml:4:28: options.*.hybridize: maybe is no value of hybridize; there is true, false"),
        (SMALL + "options: {torch: {hybridize: true}}\n", "m.yaml:4:19: options.torch: unknown torch option 'hybridize'; there is layout"),
        (SMALL + "exclude: [{framework: mxnet on torhc, model: lenet}]\n", "m.yaml:4:23: exclude.framework: unknown framework 'torhc'; did you mean 'torch'?"),
        (SMALL + "exclude: [{model: lenet, layout: middle}]\n", "m.yaml:4:34: exclude.layout: middle is no value of layout; there is auto, last"),
        (SMALL + "include: [{model: lenet, steps: 3, epochs: 3}]\n", "m.yaml:4:36: include: steps and epochs exclude each other; keep one"),
        (SMALL + "include: [{model: lenet, expect: fine}]\n", "m.yaml:4:34: include.expect: should be 'ok', 'build_failed', 'launch_failed', 'import_failed', 'unsupported', 'failed', 'timeout', 'oom_host', 'oom_device', 'output_limit', 'invalid_result', 'no_device' or 'not_run', not 'fine'; did you mean 'failed'?"),
        (SMALL + "modes: [train, train]\n", "m.yaml:4:8: modes: lists 'train' twice"),
        (SMALL + "options: {mxnet: {hybridize: [true, true]}}\n", "m.yaml:4:30: options.mxnet.hybridize: lists true twice"),
        (SMALL.replace("mxnet==1.9.1", "{name: noop, version: [1.0, 1]}"), "m.yaml:2:36: frameworks.version: lists '1.0' and '1', which are the same release; keep one"),
        (SMALL.replace("mxnet==1.9.1", "noop==1.0, noop==1"), "m.yaml:2:25: frameworks: noop 1 is already on line 2"),
        (SMALL.replace("mxnet==1.9.1", "{name: keras-mxnet, version: 2.2.4.3, backend: [mxnet==1.5, mxnet==1.5.0]}"), "m.yaml:2:61: frameworks.backend: lists 'mxnet==1.5' and 'mxnet==1.5.0', which are the same release; keep one"),
        (SMALL.replace("mxnet==1.9.1", "{name: keras-mxnet, version: 2.2.4.3, backend: null}"), "m.yaml:2:14: frameworks: 'keras-mxnet' needs a backend: keras-mxnet==VERSION on mxnet==VERSION"),
        (SMALL.replace("mxnet==1.9.1", "{name: noop, version: 1, packages: {NumPy: [1.26.0], numpy: [1.26.0]}}"), "m.yaml:2:67: frameworks.packages: 'numpy' is the same package as 'NumPy'; keep one"),
        (SMALL.replace("mxnet==1.9.1", "{name: noop, version: 1, packages: {a_b: 1}}, {name: noop, version: 1, packages: {A.B: 1.0}}"), "m.yaml:2:60: frameworks: noop 1 is already on line 2"),
        (SMALL.replace("mxnet==1.9.1", "{name: noop, dockerfile: D}"), "m.yaml:2:39: frameworks.dockerfile: there is no file 'D'; relative paths start at the folder of the matrix"),
        (SMALL + "build: {find_links: [nope]}\n", "m.yaml:4:22: build.find_links: there is no folder 'nope'; relative paths start at the folder of the matrix"),
        (SMALL + "build: {find_links: 'file:///no/such'}\n", "m.yaml:4:21: build.find_links: there is no folder 'file:///no/such'; relative paths start at the folder of the matrix"),
        (SMALL + "build: {ca_bundle: m}\n", "m.yaml:4:20: build.ca_bundle: there is no file 'm'; relative paths start at the folder of the matrix"),
        (SMALL + f"build: {{ca_bundle: {'m' * 300}}}\n", f"m.yaml:4:20: build.ca_bundle: there is no file '{'m' * 300}'; relative paths start at the folder of the matrix"),
        (SMALL + "build: {pip_index: not a url}\n", "m.yaml:4:20: build.pip_index: is no URL; write one such as https://pypi.org/simple"),
        (SMALL + "build: {extra_indexes: ['https://a.example/simple', 'https:b']}\n", "m.yaml:4:53: build.extra_indexes: is no URL; write one such as https://pypi.org/simple"),
        (SMALL + "build: {apt_mirror: 'http://['}\n", "m.yaml:4:21: build.apt_mirror: is no URL; write one such as https://pypi.org/simple"),
        (SMALL.replace("[lenet]", "[5]"), "m.yaml:3:10: models: should be a name such as lenet, or a mapping, not 5"),
        (SMALL + 'options: {noop: {env.X: "\\ud800"}}\n', "m.yaml:4:25: options.noop.env.X: holds half of a surrogate pair, which is no character; write the character itself"),
        (SMALL + '"\\udfff": 1\n', "m.yaml:4:1: holds half of a surrogate pair, which is no character; write the character itself"),
        (SMALL + "bad: 1\n", "m.yaml:4:1: unknown key 'bad'; there is version, name, seed, systems, frameworks, models_folder, models, scripts, …"),
        (SMALL + "build: {base_imag: x}\n", "m.yaml:4:9: build: unknown key 'base_imag'; did you mean 'base_image'?"),
        (SMALL + "build: {proxy: {htp: x}}\n", "m.yaml:4:17: build.proxy: unknown key 'htp'; did you mean 'http'?"),
    ],
)  # fmt: skip
def test_one_mistake_is_one_message(
    tmp_path: Path, known: catalog.Catalog, models: Models, text: str, message: str
) -> None:
    assert mistakes(tmp_path, text, known, models) == [message]


def test_a_flood_of_mistakes_is_cut_and_counted(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    """A flood of mistakes is cut, and the last line gives the number of those left out."""
    found = mistakes(tmp_path, SMALL + "".join(f"key{n}: 1\n" for n in range(70)), known, models)

    assert len(found) == 51
    assert found[-1] == "m.yaml: and 20 more mistakes"
