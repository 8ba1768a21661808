"""Image specifications that tests build recipes from."""

from dataclasses import replace

from orchestrator.domain import Environment, Framework, ImageSpec


def image_spec(image_class: str = "cpu", **environment: object) -> ImageSpec:
    """MXNet 1.9.1 on Python 3.11, with fields of its environment replaced."""
    held = Environment(
        builder="mxnet",
        python="3.11",
        requirements=("mxnet>=1.9.1,<=1.9.1.post9999", "numpy<1.24"),
        system_packages=("libgomp1", "libquadmath0"),
        expected_versions=(("mxnet", "1.9.1"),),
    )
    return ImageSpec(
        repository="bench/mxnet",
        alias=f"1.9.1-{image_class}",
        image_class=image_class,
        framework=Framework("mxnet", "1.9.1", python="3.11"),
        environment=replace(held, **environment),
    )


def gpu_spec(image_class: str) -> ImageSpec:
    """The same on a system with GPUs."""
    return image_spec(
        image_class,
        requirements=("mxnet-cu112>=1.9.1,<=1.9.1.post9999", "numpy<1.24", "nvidia-ml-py"),
        cuda_image="nvidia/cuda:11.2.2-cudnn8-runtime-ubuntu20.04",
        expected_versions=(("mxnet-cu112", "1.9.1"),),
    )


def torch_spec() -> ImageSpec:
    """PyTorch for CPUs, whose builds live on an index of their own."""
    return ImageSpec(
        repository="bench/torch",
        alias="2.13.0-cpu",
        image_class="cpu",
        framework=Framework("torch", "2.13.0", python="3.11"),
        environment=Environment(
            builder="torch",
            python="3.11",
            requirements=("torch>=2.13.0,<=2.13.0.post9999", "numpy<2.4"),
            package_index="https://download.pytorch.org/whl/cpu",
            expected_versions=(("torch", "2.13.0"),),
        ),
    )


def keras_spec() -> ImageSpec:
    """Keras on a backend, with a variable and a link of its own."""
    return ImageSpec(
        repository="bench/keras-mxnet",
        alias="2.2.4.3-on-mxnet-1.5.1-cpu",
        image_class="cpu",
        framework=Framework("keras-mxnet", "2.2.4.3", backend=Framework("mxnet", "1.5.1"), python="3.6"),
        environment=Environment(
            builder="keras_mxnet",
            python="3.6",
            requirements=(
                "keras-mxnet>=2.2.4.3,<=2.2.4.3.post9999",
                "mxnet>=1.5.1,<=1.5.1.post9999",
                "numpy<1.17",
                "h5py<3",
            ),
            system_packages=("libgomp1",),
            variables=(("KERAS_HOME", "/tmp/a folder"),),
            links=(("/usr/lib/libmpi.so.12", "/usr/lib/x86_64-linux-gnu/libmpi.so.40"),),
            expected_versions=(("keras-mxnet", "2.2.4.3"), ("mxnet", "1.5.1")),
        ),
    )


def own_image_spec() -> ImageSpec:
    """The user's own image."""
    framework = Framework("torch", "2.1", image="registry.corp/ml/torch:2.1")
    return ImageSpec("bench/torch", "2.1-own-cpu", "cpu", framework, Environment(builder="torch", python=""))


def own_dockerfile_spec(path: str) -> ImageSpec:
    """The user's own Dockerfile."""
    framework = Framework("torch", "2.1", dockerfile=path)
    return ImageSpec("bench/torch", "2.1-own-cpu", "cpu", framework, Environment(builder="torch", python=""))
