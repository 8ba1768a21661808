"""The default base image of each Python, which `images/base_images.yaml` lists."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from orchestrator.build_settings import is_base_image
from orchestrator.catalog import source
from orchestrator.errors import InputError


def template_of_image(text: str) -> str:
    """Return the template of a base image. Raises `ValueError` if it has another placeholder than `{python}`."""
    if not is_base_image(text):
        raise ValueError(f"{text!r}: the only placeholder is {{python}}")
    return text


class BaseImage(BaseModel):
    """A base image that the program knows."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    image: Annotated[str, AfterValidator(template_of_image)]
    """A template, in which `{python}` becomes `3.11`."""
    apt_archive: str | None = None
    """The address of its Debian packages once its Debian release has left the mirrors."""


class BaseImages(BaseModel):
    """Default base images by Python, and the one of every Python that is not listed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    default: BaseImage
    pythons: dict[str, BaseImage] = {}

    def of(self, python: str) -> BaseImage:
        """Return the entry of a Python such as `3.11`."""
        return self.pythons.get(python, self.default)


def load_base_images(path: Path) -> BaseImages:
    """Read the table, or raise `InputError` with a line for every mistake."""
    read = source.read(path, "list of base images")
    mistakes = list(read.mistakes)
    try:
        table = BaseImages.model_validate(read.value)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False)
        mistakes += [read.mistake(each["loc"], each["msg"].removeprefix("Value error, ")) for each in wrong]
    if mistakes:
        raise InputError(*(mistake.at(read.name) for mistake in sorted(mistakes)))
    return table
