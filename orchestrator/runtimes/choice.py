"""The choice of `--runtime auto`, which is containers if possible, else virtual environments."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """A runtime's name, and why it was taken in one line."""

    name: str
    why: str

    @property
    def notice(self) -> str:
        """Return a line such as `runtime venv: no container engine answers …`."""
        return f"runtime {self.name}: {self.why}"


def choose(engine_problem: str | None, image_problems: tuple[str, ...]) -> Choice:
    """Choose from what was found out.

    `engine_problem` says why no engine answers, None if one does; `image_problems` names each image that is neither
    built nor can be, because its base is nowhere to be had.
    """
    if engine_problem is not None:
        return Choice("venv", engine_problem)
    if image_problems:
        more = f" (and {len(image_problems) - 1} more)" if len(image_problems) > 1 else ""
        return Choice("venv", f"{image_problems[0]}{more}")
    return Choice("docker", "an engine answers, and every image is there or can be built")
