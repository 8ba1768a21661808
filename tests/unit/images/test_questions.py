import pytest

from orchestrator.engine.questions import interpreter


@pytest.mark.parametrize(
    ("entry_point", "python"),
    [
        (["/opt/environment/bin/python", "-m", "benchmarks.run"], "/opt/environment/bin/python"),
        (["orchestrator"], "python"),
        (["", "-m"], "python"),
        ([], "python"),
        (None, "python"),
    ],
)
def test_the_interpreter_is_that_of_the_entry_point(entry_point: list[str] | None, python: str) -> None:
    assert interpreter({"Config": {"Entrypoint": entry_point}}) == python


def test_an_image_without_configuration_has_an_interpreter() -> None:
    assert interpreter({"Config": None}) == "python"
