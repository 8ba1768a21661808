"""Both frameworks of a comparison in one image, each with the requirements of the other."""

from orchestrator.catalog import load, load_models
from orchestrator.matrix import load as load_matrix
from orchestrator.planning import plan
from orchestrator.resources import BENCHMARKS, IMAGES, ROOT


def test_an_image_of_a_study_holds_one_framework() -> None:
    catalog, models = load(IMAGES / "catalog"), load_models(BENCHMARKS / "models")
    planned = plan(load_matrix(ROOT / "studies" / "sktelecom-2018.yaml", catalog, models), catalog, models)
    held = [
        {word for word in ("mxnet", "tensorflow") if any(word in each for each in image.environment.requirements)}
        for image in planned.images
    ]

    assert set().union(*held) == {"mxnet", "tensorflow"}, "wrong: one image with both"
    assert [len(frameworks) for frameworks in held] == [1] * len(planned.images)
