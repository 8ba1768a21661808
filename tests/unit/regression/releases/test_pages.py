"""The releases on index pages, in both formats and whatever they hold."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.regression.releases.pages import (
    HTML_TYPE,
    JSON_TYPE,
    ListingError,
    PublishedRelease,
    listed_files,
    releases,
)

LONG = "mxnet-1.9.1-cp310-cp310-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"


def from_json(*files: dict[str, object]) -> tuple[PublishedRelease, ...]:
    body = json.dumps({"meta": {"api-version": "1.1"}, "name": "mxnet", "files": list(files)}).encode()
    return releases("mxnet", listed_files(JSON_TYPE, body))


def wheel(version: str, **more: object) -> dict[str, object]:
    return {"filename": f"mxnet-{version}-py3-none-any.whl", "url": "x", "hashes": {}} | more


def test_releases_come_in_version_order() -> None:
    """Releases come in the order of their versions, each of them once."""
    found = from_json(wheel("1.10.0"), wheel("1.9.1"), wheel("1.9.1", filename="mxnet-1.9.1.tar.gz"))

    assert [release.version for release in found] == ["1.9.1", "1.10.0"]


def test_upload_time_is_that_of_the_first_file() -> None:
    (found,) = from_json(
        wheel("1.9.1", **{"upload-time": "2022-05-17T20:00:00Z"}),
        wheel("1.9.1", filename="mxnet-1.9.1-py2-none-any.whl", **{"upload-time": "2022-05-01T10:00:00Z"}),
    )

    assert found.uploaded_at == "2022-05-01T10:00:00Z"


def test_a_release_is_yanked_with_all_its_files() -> None:
    """A release counts as yanked only when all its files are yanked."""
    other = "mxnet-1.9.1-py2-none-any.whl"
    half, whole = (
        from_json(wheel("1.9.1", yanked="wrong"), wheel("1.9.1", filename=other, yanked=second))[0]
        for second in (False, True)
    )

    assert (half.yanked, whole.yanked) == (None, "wrong")


def test_post_releases_count_but_local_builds_do_not() -> None:
    """A post-release is a release of its own, and a local build is not."""
    found = from_json(wheel("1.7.0.post1"), wheel("1.7.0.post2"), wheel("2.0.0+cpu"), wheel("2.0.0"))

    assert [release.version for release in found] == ["1.7.0.post1", "1.7.0.post2", "2.0.0"]


def test_foreign_and_versionless_files_are_left_out() -> None:
    """Files of other projects and files of no version are left out."""
    names = ["mxnet_mkl-1.0-py3-none-any.whl", "mxnet-x-py3-none-any.whl", "mxnet.exe", "", "mxnet-" + "1" * 6000]

    assert from_json(*(wheel("1", filename=name) for name in names)) == ()


def test_html_anchors_carry_the_same_facts() -> None:
    """An HTML page says the same as a JSON page, with what its anchors carry."""
    page = """<!DOCTYPE html><meta name="pypi:repository-version" content="1.0"><h1>Links</h1>
      <a href="../MXNet-1.9.1-py3-none-any.whl#sha256=0" data-requires-python="&gt;=3.8">MXNet-1.9.1-py3-n</a><br>
      <a href="mxnet-1.8.0.tar.gz" data-yanked="broken &amp; gone">it</a> <a name=z>mxnet-1.7.0-py3-none-any.whl"""
    found = releases("MXNet", listed_files("text/html; charset=utf-8", page.encode()))

    assert found == (
        PublishedRelease("1.8.0", yanked="broken & gone"),
        PublishedRelease("1.9.1", requires_python=(">=3.8",)),
    )


@pytest.mark.parametrize(
    ("anchor", "version"),
    [
        # Folders as Apache and nginx list them.
        ('<td><a href="mxnet-2.0.0-py3-none-manylinux2014_x86_64.whl">mxnet-2.0.0-py3-none-m..&gt;</a></td>', "2.0.0"),
        (f'<a href="{LONG}">{LONG[:47]}..&gt;</a>                 08-Jan-2026 12:00                 36M', "1.9.1"),
        ('<a href="https://far/a%2Fb/mxnet-1.0%21.zip?x=/y#/z">.</a><a href="mxnet-2.0.0%2Bcpu.zip">.</a>', "2.0.0"),
        ('<a href=" &#10;/files/mxnet-1.9.1.zip ">mxnet-1.8.0.zip</a>', "1.9.1"),
        ("<a>mxnet-1.9.1.zip</a>", "1.9.1"),
        ('<a href="//[/mxnet-1.9.1.zip">mxnet</a>', "1.9.1"),
    ],
)
def test_a_link_names_its_file_despite_its_text(anchor: str, version: str) -> None:
    """A link names its file by its address, whatever its text is."""
    found = releases("mxnet", listed_files("text/html", f'<a href="../">Parent</a>\n{anchor}'.encode()))

    assert [release.version for release in found] == [version]


@pytest.mark.parametrize(
    ("requirements", "python", "runs"),
    [
        ((">=3.8",), "3.6", False),
        ((">=3.8",), "3.8", True),
        ((">=3.8.1",), "3.8", True),
        (("<3.10",), "3.11", False),
        ((">=3.12", "<3.7"), "3.6", True),
        (("nonsense",), "3.6", True),
        ((), "3.6", True),
    ],
)
def test_one_file_is_enough_to_admit_a_python(requirements: tuple[str, ...], python: str, runs: bool) -> None:
    """A release runs on a Python if one of its files admits it."""
    assert PublishedRelease("1", requires_python=requirements).runs_on(python) is runs


def test_a_file_without_a_requirement_runs_everywhere() -> None:
    (found,) = from_json(wheel("1.9.1", **{"requires-python": ">=3.8"}), wheel("1.9.1", filename="mxnet-1.9.1.zip"))

    assert found.runs_on("2.7")


@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        ("", b"", "no content type"),
        ("image/png", b"", "image/png"),
        (JSON_TYPE, b"{", "broken JSON"),
        (JSON_TYPE, b"[" * 100_000, "broken JSON"),
        (JSON_TYPE, b"[]", "lists no files"),
        (JSON_TYPE, b'{"files": {}}', "lists no files"),
        (JSON_TYPE, b'{"meta": {"api-version": "2.0"}, "files": []}', "version 2.0"),
        ("text/html", b'<meta name="pypi:repository-version" content="2.1">', "version 2.1"),
    ],
)
def test_a_page_of_no_index_is_refused(kind: str, body: bytes, words: str) -> None:
    """An answer that is no page of a package index is refused in one line."""
    with pytest.raises(ListingError, match=words) as caught:
        listed_files(kind, body)

    assert str(caught.value).isprintable()


_JUNK = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
_ENTRY = st.fixed_dictionaries(
    {},
    optional={
        "filename": st.sampled_from(["mxnet-1.0-py3-none-any.whl", "mxnet-1.0.tar.gz"]) | _JUNK,
        "yanked": _JUNK, "requires-python": _JUNK, "upload-time": _JUNK,
    },
)  # fmt: skip


@given(st.lists(_ENTRY | _JUNK), _JUNK)
def test_any_json_gives_releases_or_one_line(files: list[object], meta: object) -> None:
    """Any JSON that an index answers gives sound releases or one line of refusal."""
    body = json.dumps({"meta": meta, "files": files}).encode()
    _sound(JSON_TYPE, body)


@given(st.binary(max_size=400))
def test_any_bytes_give_releases_or_one_line(body: bytes) -> None:
    """Any bytes that an index answers give sound releases or one line of refusal."""
    _sound(JSON_TYPE, body)
    _sound(HTML_TYPE, body)


@given(
    st.lists(
        st.sampled_from(
            ["<a ", "href=x>", "data-yanked", "<!--", "<![CDATA[", "mxnet-1.0.zip", "</a>", "&#x1b;", "<", "\0"]
        )
    )
)
def test_whatever_markup_an_index_answers_gives_sound_releases(parts: list[str]) -> None:
    _sound(HTML_TYPE, "".join(parts).encode())


def _sound(kind: str, body: bytes) -> None:
    try:
        found = releases("mxnet", listed_files(kind, body))
    except ListingError as error:
        found, text = (), str(error)
    else:
        text = ""
    assert text.isprintable()
    for release in found:
        release.runs_on("3.11")
        texts = (release.version, release.uploaded_at, release.yanked or "", *release.requires_python)
        assert all(text.isprintable() and len(text) < 400 for text in texts)
