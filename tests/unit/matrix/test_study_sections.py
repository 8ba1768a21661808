# ruff: noqa: E501 — each message stands on one line, as it is printed
"""The sections `study` and `claims` of a matrix."""

from pathlib import Path

import pytest
import yaml

from orchestrator import catalog, matrix
from orchestrator.errors import InputError

Models = dict[str, catalog.ModelInfo]
STUDY = """\
version: 1
name: small
frameworks: [mxnet==1.9.1]
models: [lenet, mlp]
study:
  title: A study of two models
  citation: A journal, 2019
  link: https://example.org/study
  stand_ins:
    - {published: cntk 2.1, used: cntk 2.7, reason: 2.1 is no package}
  left_out:
    - {part: table 9, reason: its data are gone}
claims:
  - name: mlp-is-faster
    text: The MLP is faster than LeNet
    metric: total_time after epoch 3
    both: {framework: mxnet==1.9.1, system: cpu, hybridize: true}
    of: {model: mlp}
    over: {model: lenet, batch_size: 200}
    published: {of: 10, over: 40, approximate: true}
    source: table 2
    flaw: CPU time over all threads
    caveats: [one repeat]
  - name: second
    text: Another claim
    metric: throughput
    of: {model: mlp}
    over: {model: lenet}
    published: {ratio: 1.5}
    source: figure 1
"""
BAD = """\
version: 1
frameworks: [mxnet==1.9.1]
models: [lenet, mlp]
study: {titel: x, stand_ins: [{published: a, user: b, reason: c}]}
claims:
  - name: a
    text: "two\\nlines"
    metric: thruput
    of: {modle: mlp}
    over: {framework: mxnt, system: gpu}
    published: {ratio: 0}
    source: table 2
  - name: a
    text: same name
    metric: throughput
    of: {model: mlp, hybridize: 3}
    over: {model: mlp, hybridize: 3}
    published: {ratio: 2, of: 3}
    sorce: table 2
  - 5
"""
WRONG = """\
m.yaml:4:8: study: 'title' is missing
m.yaml:4:9: study: unknown key 'titel'; did you mean 'title'?
m.yaml:4:31: study.stand_ins: 'used' is missing
m.yaml:4:46: study.stand_ins: unknown key 'user'; did you mean 'used'?
m.yaml:7:11: claims.text: 'two\\nlines' should be text on one line, without control characters
m.yaml:8:13: claims.metric: 'thruput' is no metric such as 'throughput' or 'total_time after epoch 10'; did you mean 'throughput'?
m.yaml:9:10: claims.of: unknown key or option 'modle'; did you mean 'mode'?
m.yaml:10:23: claims.over.framework: unknown framework 'mxnt'; did you mean 'mxnet'?
m.yaml:10:37: claims.over.system: unknown system 'gpu'; did you mean 'cpu'?
m.yaml:11:24: claims.published.ratio: should be at least 1e-30, not 0
m.yaml:13:5: claims: 'source' is missing
m.yaml:13:11: claims.name: 'a' is already on line 6
m.yaml:16:33: claims.of.hybridize: 3 is no value of hybridize; there is true, false
m.yaml:17:5: claims: `over` names the cell that `of` names; a claim is about two cells
m.yaml:17:35: claims.over.hybridize: 3 is no value of hybridize; there is true, false
m.yaml:18:16: claims.published: needs either a ratio, or the two values `of` and `over`
m.yaml:19:5: claims: unknown key 'sorce'; did you mean 'source'?
m.yaml:20:5: claims: should be a mapping, not 5"""


def _load(tmp_path: Path, text: str, known: catalog.Catalog, models: Models) -> matrix.Matrix:
    path = tmp_path / "m.yaml"
    path.write_text(text, encoding="utf-8")
    return matrix.load(path, known, models)


def test_a_study_is_read_with_its_claims(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    loaded = _load(tmp_path, STUDY, known, models).study

    assert loaded is not None
    assert (loaded.study.title, loaded.study.stand_ins[0].used) == ("A study of two models", "cntk 2.7")
    first, second = (cells.claim for cells in loaded.claims)
    assert (first.published.ratio, first.published.over, first.published.approximate) == (0.25, 40, True)
    assert (first.flaw, first.caveats) == ("CPU time over all threads", ("one repeat",))
    assert (second.published.ratio, second.published.of, second.flaw) == (1.5, None, "")
    assert loaded.claims[0].both.options == (("hybridize", (True,)),)


def test_all_study_mistakes_are_reported_at_once(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    with pytest.raises(InputError) as caught:
        _load(tmp_path, BAD, known, models)

    assert "\n".join(caught.value.messages).replace(f"{tmp_path}/", "") == WRONG


def test_the_long_form_loads_as_the_same_study(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    loaded = _load(tmp_path, STUDY, known, models)
    again = _load(tmp_path, yaml.safe_dump(matrix.long_form(loaded), sort_keys=False), known, models)

    assert again == loaded
    assert matrix.long_form(again) == matrix.long_form(loaded)


def test_a_matrix_without_study_has_no_such_keys(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    """The long form of a matrix without a study has none of the keys of a study."""
    loaded = _load(tmp_path, STUDY.partition("study:")[0], known, models)

    assert loaded.study is None
    assert {"study", "claims"}.isdisjoint(matrix.long_form(loaded))


def test_claims_need_no_study(tmp_path: Path, known: catalog.Catalog, models: Models) -> None:
    head, _, rest = STUDY.partition("study:")
    loaded = _load(tmp_path, head + "claims:" + rest.partition("claims:")[2], known, models)
    again = _load(tmp_path, yaml.safe_dump(matrix.long_form(loaded), sort_keys=False), known, models)

    assert loaded.study is not None
    assert len(loaded.study.claims) == 2
    assert again == loaded
