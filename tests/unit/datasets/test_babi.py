"""Questions in the format of bAbI, whose words are numbered and whose rows are filled in front."""

import io
import tarfile
from pathlib import Path

import pytest

from benchmarks.inputs import mounted
from orchestrator.catalog import DatasetInfo, examine, own_dataset
from orchestrator.datasets.converting import converted
from orchestrator.datasets.idx import write_folder
from orchestrator.errors import InputError
from orchestrator.user_files import SequenceInput
from tests.datasets_in_original_formats import asked_for

TRAINING = """\
1 Ann took the cup.
2 Ann went home.
3 Where is the cup?\thome\t1 2
4 Ann went out.
5 Where is the cup?\tout\t1 4
1 Bob went home.
2 Where is Bob?\thome\t1
"""
TESTING = "1 Bob took the cup.\n2 Where is the cup?\tout\t1\n"
WORDS = [".", "?", "Ann", "Bob", "Where", "cup", "home", "is", "out", "the", "took", "went"]


def described(story: int = 16, question: int = 6, vocabulary: int = 13, training: int = 3) -> DatasetInfo:
    rows = (SequenceInput("story", story, vocabulary), SequenceInput("question", question, vocabulary))
    return own_dataset(DatasetInfo("told", None, vocabulary, training, 1, rows), "idx")


def write(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "qa2_two-supporting-facts_train.txt").write_text(TRAINING)
    (folder / "qa2_two-supporting-facts_test.txt").write_text(TESTING)
    return folder


def numbers(*words: str, length: int) -> list[int]:
    return [0] * (length - len(words)) + [WORDS.index(word) + 1 for word in words]


def test_a_question_comes_with_its_story_so_far(tmp_path: Path) -> None:
    """A question stands next to all that its story has said."""
    write_folder(tmp_path / "told", converted(described(), write(tmp_path / "source")))

    data, problems = examine(described(), tmp_path / "told")

    assert (problems, data is None) == ([], False)
    assert data is not None
    split = mounted.load(asked_for(data))
    stories, questions = split.training
    said = ("Ann", "took", "the", "cup", ".", "Ann", "went", "home", ".")
    assert stories[0].tolist() == numbers(*said, length=16)
    assert stories[1].tolist() == numbers(*said, "Ann", "went", "out", ".", length=16)
    assert stories[2].tolist() == numbers("Bob", "went", "home", ".", length=16), "a new story"
    assert questions[0].tolist() == numbers("Where", "is", "the", "cup", "?", length=6)
    assert [WORDS[label - 1] for label in split.training_labels] == ["home", "out", "home"]
    assert [WORDS[label - 1] for label in split.testing_labels] == ["out"]


def test_archive_and_folder_give_the_same_files(tmp_path: Path) -> None:
    write(tmp_path / "tasks" / "en")
    archive = tmp_path / "tasks.tar.gz"
    with tarfile.open(archive, "w:gz") as opened:
        opened.add(tmp_path / "tasks", "tasks")
        other = tarfile.TarInfo("tasks/en-10k/qa2_two-supporting-facts_train.txt")
        other.size = 9
        opened.addfile(other, io.BytesIO(b"1 Never.\n"))

    assert converted(described(), archive) == converted(described(), tmp_path / "tasks")


def test_every_mismatched_number_is_named(tmp_path: Path) -> None:
    """Every number that differs from that of the matrix is named."""
    source = write(tmp_path / "source")

    with pytest.raises(InputError) as raised:
        converted(described(story=12, question=4, vocabulary=12, training=4), source)

    assert [problem.partition("told: ")[2] for problem in raised.value.messages] == [
        "training is 4, and there are 3",
        "length of story is 12, and the longest has 13",
        "vocabulary of story is 12, and 13 words are numbered",
        "length of question is 4, and the longest has 5",
        "vocabulary of question is 12, and 13 words are numbered",
        "classes is 12, and 13 words are numbered",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [("Ann took the cup.\n", "'Ann took the cup.' is no line of bAbI"), ("1\n", "'1' is no line of bAbI")],
)
def test_another_text_is_refused(tmp_path: Path, text: str, said: str) -> None:
    source = write(tmp_path / "source")
    (source / "qa2_two-supporting-facts_test.txt").write_text(text)

    with pytest.raises(InputError, match=said):
        converted(described(), source)


def test_a_file_without_questions_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "source")
    for path in source.iterdir():
        path.write_text("1 Ann took the cup.\n")

    with pytest.raises(InputError, match="training is 3, and there are 0"):
        converted(described(), source)


def test_a_folder_without_the_second_task_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no qa2_…_train\.txt and qa2_…_test\.txt"):
        converted(described(), tmp_path)
    (tmp_path / "no-archive.tar.gz").write_text("?")
    with pytest.raises(InputError, match="cannot be read as an archive or folder of bAbI"):
        converted(described(), tmp_path / "no-archive.tar.gz")
