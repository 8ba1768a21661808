"""No credential that a build needs stays behind: not in the image, not in its history, not on the engine."""

import threading
from contextlib import suppress
from pathlib import Path

import docker
import images_support as support
import pytest

from orchestrator.build_settings import BuildSettings
from orchestrator.events import ignore
from orchestrator.images import BuildFailure, Built, build, labels, recipes
from tests.until import until

pytestmark = pytest.mark.docker

PASSWORD = "correct-horse-battery"
PROXY_PASSWORD = "staple-of-the-proxy"
SECRETS = (PASSWORD.encode(), PROXY_PASSWORD.encode())


def settings(base_image: str, port: int, password: str = PASSWORD) -> BuildSettings:
    return BuildSettings(
        base_image=base_image,
        pip_index=f"http://reader:{password}@127.0.0.1:{port}/simple",
        trusted_hosts=("127.0.0.1",),
        proxies=(("http_proxy", f"http://walker:{PROXY_PASSWORD}@127.0.0.1:{port}"),),
    )


def holds_a_secret(engine: docker.DockerClient, reference: str) -> bool:
    """Search everything that leaves the engine with an image: layers, configuration, history."""
    tail = b""
    for chunk in engine.images.get(reference).save(named=True):
        if any(secret in tail + chunk for secret in SECRETS):
            return True
        tail = chunk[-64:]
    return False


def remaining_steps(engine: docker.DockerClient) -> list[str]:
    return [image["Id"] for image in engine.api.images(all=True, filters={"label": labels.STAGE})]


def test_image_holds_no_password_of_its_sources(engine: docker.DockerClient, base_image: str, tmp_path: Path) -> None:
    """An image from an index and a proxy with passwords holds neither password."""
    spec = support.tiny_spec("secret")
    before = {image["Id"] for image in engine.api.images(all=True)}
    with support.index(f"reader:{PASSWORD}", f"walker:{PROXY_PASSWORD}") as (port, served):
        chosen = settings(base_image, port)
        (recipe,) = recipes([spec], chosen)
        results = build([spec], chosen, engine, jobs=1, logs=tmp_path, listener=ignore, stop=threading.Event())
    result = results[spec.name]
    assert isinstance(result, Built), result
    assert recipe.environment is not None
    made = {image["Id"] for image in engine.api.images(all=True)} - before
    try:
        assert f"proxied /{support.WHEEL}" in served
        assert not holds_a_secret(engine, result.reference)
        assert not holds_a_secret(engine, recipe.environment.reference)
        for identity in made & {image["Id"] for image in engine.api.images(all=True)}:
            with suppress(docker.errors.NotFound):  # a step of another test's build
                document = str(engine.api.inspect_image(identity)) + str(engine.api.history(identity))
                assert not any(secret.decode() in document for secret in SECRETS)
        assert not any(secret in path.read_bytes() for path in tmp_path.iterdir() for secret in SECRETS)
        until(lambda: not set(remaining_steps(engine)) & made)  # those of other tests' builds go too
    finally:
        for name in (recipe.alias, recipe.reference, recipe.environment.reference):
            engine.images.remove(name)


def test_search_for_secrets_finds_one_that_exists(engine: docker.DockerClient, base_image: str, tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(f"FROM {base_image.format(python='3.11')}\nCOPY Dockerfile /\n# {PASSWORD}\n")
    engine.images.build(path=str(tmp_path), tag="bench-test-images/leak:1", rm=True)
    try:
        assert holds_a_secret(engine, "bench-test-images/leak:1")
    finally:
        engine.images.remove("bench-test-images/leak:1")


def test_refused_password_stays_nowhere(engine: docker.DockerClient, base_image: str, tmp_path: Path) -> None:
    """A refused password shows in no reason and no log, and stays nowhere."""
    spec = support.tiny_spec("refused")
    before = {image["Id"] for image in engine.api.images(all=True)}
    with support.index("reader:another", f"walker:{PROXY_PASSWORD}") as (port, _):
        results = build(
            [spec], settings(base_image, port), engine,
            jobs=1, logs=tmp_path, listener=ignore, stop=threading.Event(),
        )  # fmt: skip
    result = results[spec.name]
    made = {image["Id"] for image in engine.api.images(all=True)} - before

    assert isinstance(result, BuildFailure)
    assert "refuses the credentials" in result.reason
    assert not any(secret in path.read_bytes() for path in tmp_path.iterdir() for secret in SECRETS)
    until(lambda: not set(remaining_steps(engine)) & made)
