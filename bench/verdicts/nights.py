"""A series of nights with real MXNet, in which releases appear one by one on an index of this host.

    python -m bench.verdicts.nights [--pairs 24] [--keep FOLDER]

Three of the releases that appear were never published: 1.8.1 needs a package that nobody offers, the library of 1.8.2
is cut off, and 1.9.2 is 1.9.1 that waits, after each synchronised block, for 15 % of the block's time. The last night's
index is silent. With `--keep` it continues where it was, and runs and reports stay.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bench.verdicts.regress import PLANTED, throughput

UPSTREAM = "https://pypi.org/simple"
PACKAGE = "mxnet"
WAIT = 0.15
MATRIX = """\
version: 1
systems: {{cpu: {{cpus: 1, memory: 4g}}}}
frameworks: [mxnet==1.5.1]
models: [lenet]
build: {{pip_index: "{url}/simple"}}
"""
NIGHTLY = """\
version: 1
watch: mxnet
first: "1.5.1"
metrics: [throughput=5%, loss]
runtime: docker
keep_images: 3
max_blocks: {blocks}
"""
SILENT = "silent"


@dataclass(frozen=True)
class Night:
    """The release that appears before a night, and the required end of the night."""

    release: str
    """Empty if no release appears."""
    exit_codes: tuple[int, ...]
    ending: str
    judgements: tuple[str, ...] = ()
    """Possible judgements of the release; that of a sound one is not known before."""
    made_of: str = ""
    """The release whose wheel is changed to make it."""


SOUND = ("clean", "inconclusive", "regressed")
NIGHTS = (
    Night("1.5.1", (0,), "nothing_new"),
    Night("1.6.0", (0, 1), "measured", SOUND),
    Night("1.7.0.post2", (0, 1), "measured", SOUND),
    Night("1.8.1", (0,), "no_result", ("build_failed",), made_of="1.8.0"),
    Night("1.8.2", (1,), "measured", ("regressed",), made_of="1.8.0"),
    Night("1.9.1", (0, 1), "measured", SOUND),
    Night("1.9.2", (1,), "measured", ("regressed",), made_of="1.9.1"),
    Night(SILENT, (3,), "index_silent"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=24, help="blocks of one release, at most")
    parser.add_argument("--keep", type=Path, help="a folder to keep runs and reports in, and to go on in")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-nights-") as scratch:
        folder = (options.keep or Path(scratch)).absolute()
        (folder / "index").mkdir(parents=True, exist_ok=True)
        (folder / "nightly.yaml").write_text(NIGHTLY.format(blocks=options.pairs))
        nights = [spent(folder, number) for number in range(len(NIGHTS))]
    remove_unpublished(nights)
    print(json.dumps([figure(nights)]))


def spent(folder: Path, number: int) -> dict[str, Any]:
    """Return the record of a night, which is read if it was recorded before and else carried out."""
    stored = folder / f"night-{number + 1}.json"
    if stored.exists():
        recorded: dict[str, Any] = json.loads(stored.read_text())
        return recorded
    night = NIGHTS[number]
    if night.release != SILENT:
        publish(folder, night)
    with index(folder / "index", is_silent=night.release == SILENT) as url:
        (folder / "matrix.yaml").write_text(MATRIX.format(url=url))
        command = [sys.executable, "-m", "orchestrator", "nightly", "-f", str(folder / "nightly.yaml")]
        ended = subprocess.run(command, stdout=sys.stderr, check=False)
    record: dict[str, Any] = json.loads((max((folder / "nightly" / "nights").iterdir()) / "night.json").read_text())
    record["ended_with"] = ended.returncode
    stored.write_text(json.dumps(record, indent=1) + "\n")
    return record


def publish(folder: Path, night: Night) -> None:
    """Put the wheel of a release into the index, changed if the night says so."""
    wheels = folder / "wheels"
    published = night.made_of or night.release
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", f"--dest={wheels}"]
    subprocess.run([*pip, f"{PACKAGE}=={published}"], check=True)
    (wheel,) = wheels.glob(f"{PACKAGE}-{published}-*.whl")
    target = folder / "index" / wheel.name.replace(f"-{published}-", f"-{night.release}-")
    if night.made_of:
        change(wheel, target, published, night.release)
    elif not target.exists():
        target.hardlink_to(wheel)


def change(wheel: Path, target: Path, published: str, release: str) -> None:
    """Write the wheel of a release that is not sound."""
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(target, "w") as changed:
        for name in source.namelist():
            content = source.read(name)
            if name.endswith(".dist-info/METADATA"):
                content = content.replace(f"Version: {published}".encode(), f"Version: {release}".encode(), 1)
                if release == "1.8.1":
                    content = content.replace(b"\nVersion:", b"\nRequires-Dist: bench-nobody-offers-this\nVersion:", 1)
            if release == "1.8.2" and name == "mxnet/libmxnet.so":
                content = content[: len(content) // 2]
            changed.writestr(name.replace(f"-{published}.dist-info/", f"-{release}.dist-info/"), content)
        if release == "1.9.2":
            waits = f"import os\n\nos.environ['PLANTED_WAIT'] = '{WAIT}'\n"
            planted = (PLANTED / "sitecustomize.py").read_text()
            changed.writestr("bench_planted.py", planted.replace("import builtins\n", f"{waits}import builtins\n", 1))
            changed.writestr("bench_planted.pth", "import bench_planted\n")


def remove_unpublished(nights: list[dict[str, Any]]) -> None:
    """Remove the images of unpublished releases, which would pass for a release of that name."""
    unpublished = {night.release for night in NIGHTS if night.made_of}
    records = [attempt["record"] for night in nights for attempt in night["tried"]]
    names = {image for record in records if record["version"] in unpublished for image in record["images"]}
    for name in sorted(names):
        subprocess.run(
            ["docker", "image", "rm", name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
        )


@contextmanager
def index(folder: Path, *, is_silent: bool) -> Iterator[str]:
    """Serve the wheels on this host's loopback, and redirect all other packages to the public index."""

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            _, _, requested = self.path.partition("/simple/")
            project, _, wheel = requested.partition("/")
            if is_silent:
                self.send_error(503)
            elif project == PACKAGE:
                self.path = f"/{wheel}"  # the folder itself answers with its listing, which links the files by name
                super().do_GET()
            else:
                self.send_response(302)
                self.send_header("Location", f"{UPSTREAM}/{requested}")
                self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), lambda *arguments: Handler(*arguments, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def figure(nights: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the figure on whether every night ended as required, with the end of each."""
    both = list(zip(NIGHTS, nights, strict=True))
    return {
        "name": "nights in a row with MXNet, releases appearing one by one",
        "text": "; ".join(said(night, record) for night, record in both),
        "wanted": "what does not install is no regression; what is broken, and what waits for 15 %, an alarm, its "
        "interval holding that; the index that is silent recorded",
        "within": all(fits(night, record) for night, record in both) and holds(nights[-2]),
        "values": [[record["ended_with"], record["ending"]] for record in nights],
    }


def tried(night: Night, record: dict[str, Any]) -> dict[str, Any]:
    """Return the attempt at the release that appeared, or an empty mapping if none was tried."""
    return next((attempt for attempt in record["tried"] if attempt["record"]["version"] == night.release), {})


def fits(night: Night, record: dict[str, Any]) -> bool:
    """Return true if a night ended as required."""
    attempt = tried(night, record)
    judgement = attempt["record"]["judgement"] if attempt else ""
    if night.release == "1.8.2" and [alarm["metric"] for alarm in attempt.get("alarms", [])] != [""]:
        return False
    return (
        record["ended_with"] in night.exit_codes
        and record["ending"] == night.ending
        and judgement in (night.judgements or ("",))
    )


def holds(record: dict[str, Any]) -> bool:
    """Return true if the interval of 1.9.2's throughput holds the planted slowdown.

    Its baseline must be the 1.9.1 that it is made of.
    """
    attempt = next(
        (tested for tested in record["tried"] if tested["record"]["baseline"] == "1.9.1" and tested["regression"]), None
    )
    judged = throughput(attempt["regression"]["pairs"][0]) if attempt else {}
    return bool(judged) and judged["low"] <= 1 / (1 + WAIT) <= judged["high"]


def said(night: Night, record: dict[str, Any]) -> str:
    """Return the result of a night in one line with its release and its reason."""
    attempt = tried(night, record)
    what = f"{attempt['record']['judgement']} ({attempt['record']['reason']})" if attempt else record["ending"]
    return f"{night.release}: {what}"


if __name__ == "__main__":
    main()
