from pathlib import Path

import pytest
import yaml

from orchestrator import catalog, matrix
from orchestrator.domain import Duration, Mode, Status, System
from orchestrator.matrix import FrameworkAxes, ModelAxes, Rule, Settings

Models = dict[str, catalog.ModelInfo]
SMALL = "version: 1\nframeworks: [mxnet==1.9.1]\nmodels: [lenet]\n"
EVERYTHING = """\
version: 1
name: all
seed: 7
systems: {cpu: {cpus: 2, memory: 8g}, 1_gpu: {gpus: 1}, free: }
frameworks:
  - mxnet==1.9.1
  - keras-mxnet==2.2.4.3  on  mxnet==1.5.1
  - {name: torch, version: [2.10, 2.13.0], python: [3.10, "3.12"], packages: {numpy: [2.2.0]}, expect: timeout}
  - {name: torch, image: "registry.example:5000/ml/torch:2.1"}
  - {name: torch, version: "9", dockerfile: own/Dockerfile, options: {layout: last}}
models:
  - lenet
  - {name: mlp, batch_size: [32, 64], epochs: 2, timeout: 1h30m, repeats: 9}
modes: [train, infer]
options: {mxnet: {hybridize: [true, false]}, "*": {layout: auto}}
repeats: 4
warmup_steps: 3
steps: 20
timeout: 90s
exclude: [{framework: mxnet<1.9, hybridize: false}]
include: [{framework: mxnet==1.9.1, system: free, model: lenet, batch_size: 1, expect: oom_device}]
build: {proxy: "http://proxy.example", find_links: [wheels, "https://x.example/w"], ca_bundle: ca.pem}
"""


def load(tmp_path: Path, text: str, known: catalog.Catalog, models: Models, name: str = "m.yaml") -> matrix.Matrix:
    path = tmp_path / name
    for folder in ("own", "wheels"):
        (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / "own" / "Dockerfile").touch()
    (tmp_path / "ca.pem").touch()
    path.write_text(text, encoding="utf-8")
    return matrix.load(path, known, models)


def test_the_smallest_matrix_has_every_default(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    found = load(tmp_path, SMALL, known, models, "my nights.yaml")

    assert found.name == "my-nights"
    assert found.systems == (System("cpu"),)
    assert found.frameworks == (FrameworkAxes("mxnet", ("1.9.1",), pythons=("3.11",)),)
    assert found.models == (ModelAxes("lenet", (200,), ("synthetic",)),)
    assert found.modes == (Mode.TRAIN,)
    assert (found.repeats, found.timeout_s, found.duration) == (3, 600.0, Duration(10, 50, None))
    assert found.build.base_image is None


def test_short_forms_are_resolved(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    found = load(tmp_path, EVERYTHING, known, models)

    assert found.systems[0] == System("cpu", cpus=2, memory_bytes=8 * 1024**3)
    assert found.frameworks[1] == FrameworkAxes(
        "keras-mxnet", ("2.2.4.3",), backends=(("mxnet", "1.5.1"),), pythons=("3.6",)
    )
    assert found.models[1].settings == Settings(epochs=2, timeout_s=5400.0, repeats=9)
    assert found.timeout_s == 90.0
    assert found.build.proxies == (("http_proxy", "http://proxy.example"), ("https_proxy", "http://proxy.example"))
    assert found.exclude == (Rule(frameworks=("mxnet<1.9",), options=(("hybridize", (False,)),)),)
    assert found.exclude[0].place == f"{tmp_path}/m.yaml:20:11"
    assert found.include[0].settings.expect is Status.OOM_DEVICE


def test_versions_without_quotes_keep_their_text(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    torch = load(tmp_path, EVERYTHING, known, models).frameworks[2]

    assert (torch.versions, torch.pythons) == (("2.10", "2.13.0"), ("3.10", "3.12"))
    assert torch.packages == (("numpy", ("2.2.0",)),)


def test_paths_start_at_the_folder_of_the_file(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    found = load(tmp_path, EVERYTHING, known, models)

    assert found.frameworks[4].dockerfile == f"{tmp_path}/own/Dockerfile"
    assert found.build.find_links == (f"{tmp_path}/wheels", "https://x.example/w")
    assert found.build.ca_bundle == f"{tmp_path}/ca.pem"


@pytest.mark.parametrize(
    ("image", "version"),
    [
        ("registry.example:5000/ml/torch:2.1", "2.1"),
        ("registry.example:5000/ml/torch", "latest"),
        ("torch@sha256:0123456789abcdef0123", "0123456789ab"),
    ],
)
def test_an_own_images_tag_stands_for_its_version(
    tmp_path: Path, known: catalog.Catalog, models: Models, image: str, version: str
) -> None:
    """The tag of the user's own image stands for the version of its framework."""
    text = SMALL.replace("mxnet==1.9.1", f'{{name: torch, image: "{image}"}}')

    assert load(tmp_path, text, known, models).frameworks[0].versions == (version,)


@pytest.mark.parametrize("text", [SMALL, EVERYTHING], ids=["small", "everything"])
def test_the_long_form_loads_to_an_equal_matrix(
    tmp_path: Path, known: catalog.Catalog, models: Models, text: str
) -> None:
    short = load(tmp_path, text, known, models)

    written = yaml.safe_dump(matrix.long_form(short), sort_keys=False)
    long = load(tmp_path, written, known, models, "elsewhere.yaml")

    assert long == short
    assert matrix.long_form(long) == matrix.long_form(short)
    assert "batch_size" in written
    assert "warmup_steps" in written


def test_two_matrices_that_differ_are_not_equal(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    assert load(tmp_path, EVERYTHING, known, models) != load(
        tmp_path, EVERYTHING.replace("epochs: 2", "epochs: 3"), known, models
    )


def test_byte_order_marks_and_crlf_do_no_harm(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    """A matrix with a byte order mark and Windows line ends loads as it does without them."""
    path = tmp_path / "m.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())

    assert matrix.load(path, known, models) == load(tmp_path, SMALL, known, models)
