from orchestrator.reporting.findings.cells import flatten
from orchestrator.reporting.findings.shared_texts import labels
from tests.unit.reporting import synthetic as s


def test_labels_say_only_what_tells_cells_apart() -> None:
    on, off = (s.cell(s.MXNET, options=(("hybridize", flag), ("layout", "nchw"))) for flag in (True, False))
    older = s.cell(s.Framework("torch", "2.13.0", python="3.10"))

    assert labels([on, off, s.cell(s.TORCH), older]) == (
        "mxnet 1.9.1 · hybridize=true",
        "mxnet 1.9.1 · hybridize=false",
        "torch 2.13.0 · Python 3.11",
        "torch 2.13.0 · Python 3.10",
    )
    assert labels([on]) == ("mxnet 1.9.1",)


def test_facts_are_flattened_to_dotted_names() -> None:
    facts = {
        "versions": {"numpy": "1.0"},
        "gpus": [{"x": 1}, "b"],
        "cpus": [0, 1],
        "none": None,
        "empty": [],
        "on": True,
    }

    assert dict(flatten(facts)) == {
        "versions.numpy": "1.0",
        "gpus.0.x": "1",
        "gpus.1": "b",
        "cpus": "0, 1",
        "on": "True",
    }
