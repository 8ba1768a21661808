"""Images pulled by digest, checked for their content, and the file that lists them."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.engine.registry_errors import NoRegistryError, NotInRegistryError
from orchestrator.errors import InputError
from orchestrator.events import ignore
from orchestrator.images.registries.pushed_file import image_source, pushed_document
from orchestrator.images.registries.pushing import PushedImage
from orchestrator.images.registries.source import ImageSource, WantedImage, fetch, lacking
from orchestrator.processes import Stop
from tests.unit.images.registries.registry_fake import FakeRegistryEngine, digest_of

REFERENCE = "bench/small:1-cpu-aaaa"
DIGEST = f"registry:5000/bench/small@{digest_of(1)}"
WANTED = WantedImage("bench/small:1-cpu", REFERENCE, "aaaa")
SOURCE = ImageSource("images.json", {REFERENCE: DIGEST})


@pytest.fixture
def engine() -> FakeRegistryEngine:
    """An engine without images; its registry has one of content `aaaa`."""
    return FakeRegistryEngine(contents={digest_of(1): "aaaa"}, remote={DIGEST: digest_of(1)})


def fetched(engine: FakeRegistryEngine, *wanted: WantedImage, stop: Stop | None = None) -> bool:
    client: Any = engine
    return fetch(client, SOURCE, wanted, ignore, stop or threading.Event())


def test_a_pulled_image_has_its_content_tag_alone(engine: FakeRegistryEngine) -> None:
    """A pulled image keeps no name of the registry, so that it goes like one that was built here."""
    assert fetched(engine, WANTED)

    assert engine.names == {REFERENCE: digest_of(1)}
    assert engine.calls == [f"pull {DIGEST}"]


def test_what_is_there_is_not_lacking(engine: FakeRegistryEngine) -> None:
    client: Any = engine
    other = WantedImage("bench/small:2-cpu", "bench/small:2-cpu-bbbb", "bbbb", digest_of(2))
    assert lacking(client, [WANTED, other]) == (WANTED, other)

    engine.add(REFERENCE, "aaaa", 1)
    engine.add("any:name", "bbbb", 2)

    assert lacking(client, [WANTED, other]) == ()


def test_another_content_is_refused(engine: FakeRegistryEngine) -> None:
    """An image whose label has another content gets no name, and does not stay."""
    engine.contents[digest_of(1)] = "cccc"

    with pytest.raises(InputError, match=r"images.json: .* is not bench/small:1-cpu-aaaa: its content is cccc"):
        fetched(engine, WANTED)

    assert engine.names == {}


def test_an_image_of_a_bundle_needs_its_id(engine: FakeRegistryEngine) -> None:
    """An image of the right content and another id is not the one that a bundle came with."""
    with pytest.raises(InputError, match="the bundle came with"):
        fetched(engine, WantedImage(WANTED.name, REFERENCE, "aaaa", digest_of(9)))

    assert engine.names == {}


def test_every_unlisted_image_is_named_before_a_pull(engine: FakeRegistryEngine) -> None:
    others = [WantedImage(f"bench/small:{n}-cpu", f"bench/small:{n}-cpu-bbbb", "bbbb") for n in (2, 3)]

    with pytest.raises(InputError) as raised:
        fetched(engine, WANTED, *others)

    assert [message.partition(",")[0] for message in raised.value.messages[:2]] == [
        f"images.json: lists no bench/small:{n}-cpu-bbbb" for n in (2, 3)
    ]
    assert raised.value.messages[2].endswith("push them: orchestrator push REGISTRY -o images.json")
    assert engine.calls == []


def test_refusals_of_a_registry_are_typed(engine: FakeRegistryEngine) -> None:
    engine.remote.clear()
    with pytest.raises(NotInRegistryError):
        fetched(engine, WANTED)

    engine.refusal = "dial tcp 127.0.0.1:5000: connect: connection refused"
    with pytest.raises(NoRegistryError):
        fetched(engine, WANTED)


def test_a_stop_ends_a_pull(engine: FakeRegistryEngine) -> None:
    stop = threading.Event()
    stop.set()

    assert not fetched(engine, WANTED, stop=stop)
    assert engine.names == {}


def test_an_image_that_another_process_brought_is_taken(engine: FakeRegistryEngine) -> None:
    """Two processes that pull one image at the same time both have it at the end."""
    engine.removed_by_others = True
    engine.add(REFERENCE, "aaaa", 1)

    assert fetched(engine, WANTED)


def _document(**changes: Any) -> dict[str, Any]:
    image = PushedImage("bench/small:1-cpu", REFERENCE, DIGEST, 2)
    document: dict[str, Any] = json.loads("".join(pushed_document("registry:5000", [image], ["bench/b:1"]).texts()))
    return document | changes


def test_the_file_of_a_push_is_a_source(tmp_path: Path) -> None:
    path = tmp_path / "images.json"
    path.write_text(json.dumps(_document()))

    assert image_source(path) == ImageSource(str(path), {REFERENCE: DIGEST})


def _with_digest(digest: str) -> dict[str, Any]:
    document = _document()
    document["data"]["images"][0]["digest"] = digest
    return document


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lambda: "{", "not what orchestrator push -o writes"),
        (lambda: json.dumps(_document(data=[])), "data: Input should be an object"),
        (lambda: json.dumps(_document(schema="pushed-images/2")), "'pushed-images/2' is not pushed-images/1"),
        (lambda: json.dumps(_with_digest("registry:5000/bench/small:latest")), "is no name with a digest"),
        (lambda: json.dumps(_with_digest("r/x@sha256:" + "0" * 64 + "?a=b")), "is no name with a digest"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: Callable[[], str], said: str) -> None:
    path = tmp_path / "images.json"
    path.write_text(content())

    with pytest.raises(InputError, match=said):
        image_source(path)


def test_a_missing_file_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"images.json: cannot be read: .*orchestrator push REGISTRY -o"):
        image_source(tmp_path / "images.json")
