"""The moving picture of a terminal: commands are run, what they print is kept with its times, and drawn as an SVG.

    python -m bench.documentation.recording            # run the commands, then draw
    python -m bench.documentation.recording --draw     # draw the kept recording again

The recording is an asciicast, version 2. Its text is what the program printed. Only pauses are shortened.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from rich.console import Console
from rich.style import Style
from rich.text import Text

from bench.records import ROOT

CAST = ROOT / "docs" / "assets" / "first-verdict.cast"
PICTURE = CAST.with_suffix(".svg")
PAGE = ROOT / "docs" / "tutorial" / "first-verdict.md"
COLUMNS, ROWS = 110, 30
LONGEST_PAUSE_S = 0.6
TYPED_S = 1.2
"""Time between a command and its first line."""
_WIDTH, _HEIGHT = 8.0, 18.0
"""Of a character, in pixels."""
_COMMANDS = (
    "orchestrator plan -f first.yaml",
    "orchestrator run -f first.yaml",
    "orchestrator regress -f first.yaml --baseline onnxruntime==1.20.1 --candidate onnxruntime==1.21.1 --repeats 6",
)


@dataclass(frozen=True, slots=True)
class TimedLine:
    """One printed line with its time in the picture."""

    at_s: float
    text: str


def record(program: str, folder: Path) -> list[TimedLine]:
    """Run the commands in a folder, and return each line that they print with its time."""
    variables = {**os.environ, "COLUMNS": str(COLUMNS)}
    lines, now = [], 0.0
    for command in _COMMANDS:
        lines.append(TimedLine(now, f"\x1b[1;32m$\x1b[0m \x1b[1m{command}\x1b[0m"))
        now = round(now + TYPED_S, 2)
        words = [program, "--color", "always", *command.split()[1:]]  # in lines, as without a terminal
        running = subprocess.Popen(
            words, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert running.stdout is not None
        before = time.monotonic()
        for line in running.stdout:
            moment = time.monotonic()
            now += min(moment - before, LONGEST_PAUSE_S)
            before = moment
            lines.append(TimedLine(round(now, 2), line.rstrip("\n")))
        running.wait()
        lines.append(TimedLine(round(now, 2), ""))
        now = round(now + TYPED_S, 2)
    return lines


def keep(lines: Sequence[TimedLine], cast: Path) -> None:
    """Write a recording as an asciicast."""
    head = {"version": 2, "width": COLUMNS, "height": ROWS, "title": "First verdict"}
    events = [[line.at_s, "o", f"{line.text}\r\n"] for line in lines]
    cast.write_text("".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in (head, *events)), encoding="utf-8")


def kept(cast: Path) -> list[TimedLine]:
    """Read a recording."""
    _, *events = (json.loads(line) for line in cast.read_text(encoding="utf-8").splitlines())
    return [TimedLine(at_s, text.removesuffix("\r\n")) for at_s, _, text in events]


def picture(lines: Sequence[TimedLine]) -> str:
    """Return the SVG: each line appears at its time, and the terminal scrolls."""
    shown = [TimedLine(line.at_s, part) for line in lines for part in _folded(line.text)]
    width, height = COLUMNS * _WIDTH + 24, ROWS * _HEIGHT + 24
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">',
            "<title>A terminal: two frameworks are compared, then two releases of one</title>",
            f"<style>{_style(shown)}</style>",
            f'<rect width="{width:g}" height="{height:g}" rx="8" fill="#14171f" stroke="#3b4252"/>',
            f'<svg x="12" y="12" width="{width - 24:g}" height="{height - 24:g}"><g class="s">',
            *(_row(number, line) for number, line in enumerate(shown)),
            "</g></svg></svg>\n",
        )
    )


def _style(shown: Sequence[TimedLine]) -> str:
    """Return the rules of the picture. Who wants no motion sees its end."""
    whole = shown[-1].at_s + 1
    below = [(line.at_s, max(0, number + 1 - ROWS)) for number, line in enumerate(shown)]
    steps = {round(100 * at_s / whole, 2): hidden for at_s, hidden in below}
    scroll = "".join(f"{at}%{{transform:translateY({-hidden * _HEIGHT:g}px)}}" for at, hidden in steps.items())
    last = f"translateY({-below[-1][1] * _HEIGHT:g}px)"
    return (
        f"text{{font:13.3px ui-monospace,Menlo,Consolas,monospace;fill:#d7dae0;white-space:pre}}"
        f".s{{transform:{last}}}"
        f"@keyframes s{{{scroll}100%{{transform:{last}}}}}"
        "@keyframes a{from{visibility:hidden}to{visibility:visible}}"
        "@media(prefers-reduced-motion:no-preference){"
        f".s{{animation:s {whole:g}s step-end both}}.l{{animation:a .01s both;animation-delay:var(--t)}}}}"
    )


def _folded(text: str) -> Iterator[str]:
    """Yield a line as a terminal of this width shows it, with its colors."""
    whole = Text.from_ansi(text)
    for part in whole.wrap(_CONSOLE, COLUMNS, overflow="fold", no_wrap=False) if whole.plain else [whole]:
        with _CONSOLE.capture() as capture:
            _CONSOLE.print(part, end="", soft_wrap=True)
        yield capture.get()


_CONSOLE = Console(force_terminal=True, color_system="truecolor", width=COLUMNS, highlight=False)


def _row(number: int, line: TimedLine) -> str:
    text = Text.from_ansi(line.text)
    y = number * _HEIGHT + 14
    spans, column = [], 0
    for segment in text.render(_CONSOLE):
        words = segment.text.rstrip("\n")
        if words.strip():
            spans.append(
                f'<tspan x="{column * _WIDTH:g}" textLength="{len(words) * _WIDTH:g}"{_look(segment.style)}>'
                f"{escape(words)}</tspan>"
            )
        column += len(words)
    return f'<text class="l" style="--t:{line.at_s:g}s" y="{y:g}" xml:space="preserve">{"".join(spans)}</text>'


_COLORS = ("#545862", "#f07178", "#9ece6a", "#e5c07b", "#7aa2f7", "#c792ea", "#6fd0d8", "#eceff4")
"""The eight colors of a terminal, by their numbers."""


def _look(style: Style | None) -> str:
    if style is None:
        return ""
    number = style.color.number if style.color else None
    fill = f' fill="{_COLORS[number % 8]}"' if number is not None and number < 2 * len(_COLORS) else ""
    weight = ' font-weight="700"' if style.bold else ""
    return fill + weight + (' opacity=".65"' if style.dim else "")


def main() -> None:
    """Record and draw, or draw alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draw", action="store_true", help="draw the kept recording, and run nothing")
    parser.add_argument("--program", default=str(ROOT / ".venv" / "bin" / "orchestrator"))
    options = parser.parse_args()
    if not options.draw:
        matrix = PAGE.read_text(encoding="utf-8").partition("`first.yaml`:\n\n```yaml\n")[2].partition("```")[0]
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "first.yaml").write_text(matrix, encoding="utf-8")
            keep(record(options.program, Path(folder)), CAST)
    PICTURE.write_text(picture(kept(CAST)), encoding="utf-8")


if __name__ == "__main__":
    main()
