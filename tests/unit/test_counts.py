"""The counts of `make counts`, on a tree small enough to count by hand."""

from pathlib import Path

import pytest

from bench import counts

TREE = {
    "shop/__init__.py": '"""Which shop."""\nfrom shop.till import Till\n',
    "shop/till.py": '"""A till: of a shop."""\nimport shop.goods\n\n\nclass Till:\n    pass\n',
    "shop/goods.py": "def price(a, b, *, c):\n    found = a\n    return found\n\n\nclass Till:\n    pass\n",
    "shop/door.py": "from shop import Till, goods\n\n\ndef enter(found):\n    import json\n    return goods, Till\n",
    "shop/yard.py": "import shop.lane\nimport shop\n\nshop.Till\n",
    "shop/lane.py": "from shop import yard\n",
    "shop/test_till.py": "def test_it_opens():\n    pass\n\n\ndef test_shut():\n    pass\n",
}


@pytest.fixture
def sources(tmp_path: Path) -> dict[str, counts.Module]:
    for name, text in TREE.items():
        place = tmp_path / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    return {source.name: source for source in counts.modules(tmp_path, ["shop"])}


@pytest.mark.parametrize(
    ("name", "imported"),
    [
        ("shop.door", {"shop.till", "shop.goods"}),
        ("shop.till", {"shop.goods"}),
        ("shop.yard", {"shop.lane", "shop.till"}),
    ],
)
def test_imports_count_through_re_exports(sources: dict[str, counts.Module], name: str, imported: set[str]) -> None:
    assert counts.own_imports(sources[name], sources) == imported


def test_modules_that_import_each_other_are_a_circle(sources: dict[str, counts.Module]) -> None:
    assert counts.import_circles(list(sources.values())) == [["shop.lane", "shop.yard"]]


def test_repeated_names_of_classes_are_listed(sources: dict[str, counts.Module]) -> None:
    assert counts.repeated_classes(list(sources.values())) == {"Till": ["shop.goods", "shop.till"]}


def test_names_docstrings_and_parameters_are_counted(sources: dict[str, counts.Module]) -> None:
    every = list(sources.values())

    assert counts.variables_called(every, "found") == 2
    assert sorted(counts.first_lines(every)) == ["A till: of a shop.", "Which shop."]
    assert counts.parameters(every)[0] == (3, "shop.goods.price")
    assert counts.words_of_tests(every) == [1, 2]


@pytest.fixture(scope="module")
def project() -> list[counts.Module]:
    return list(counts.modules())


def test_public_class_names_of_the_project_are_unique(project: list[counts.Module]) -> None:
    assert counts.repeated_classes(project) == {}


def test_summary_of_the_project_is_complete(project: list[counts.Module]) -> None:
    rows = {what: count for what, count, _ in counts.summary(project)}

    assert rows["Typer imported outside cli/"] == rows["circles of imports"] == "0"
    assert len(rows) == 12
