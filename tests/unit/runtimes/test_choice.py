"""The choice of `--runtime auto`, and the line in which it says so."""

from orchestrator.runtimes import choose


def test_without_an_engine_venv_is_chosen() -> None:
    """Without an engine, venv is chosen and the problem of the engine is given."""
    choice = choose("no container engine answers", ())

    assert (choice.name, choice.notice) == ("venv", "runtime venv: no container engine answers")


def test_without_base_images_venv_is_chosen() -> None:
    """Without base images, venv is chosen and the first missing one is named."""
    assert choose(None, ("base image a is not here",)).notice == "runtime venv: base image a is not here"
    assert choose(None, ("base a", "base b", "base c")).why == "base a (and 2 more)"


def test_with_both_it_is_docker() -> None:
    assert choose(None, ()).name == "docker"
