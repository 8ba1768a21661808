"""Two networks of a user's own in a matrix, and a runtime in memory that reads the files it is given of them."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import networks
from orchestrator.processes import Stop, Watch
from orchestrator.runtimes import Ended, Task
from tests import exported
from tests.unit.regression.trials.bench_trials import Bench

MATRIX = """version: 1
frameworks: [onnxruntime==1.20.1]
models:
  - {name: ours, file: nets/ours.onnx, batch_size: 8}
  - {name: words, file: nets/words.onnx, batch_size: 8, dimensions: {length: 12}, inputs: {mask: {value: 1}}}
modes: [infer]
parity: false
"""


def write(folder: Path) -> None:
    """Write a matrix of two networks, one with its tensors in a file beside it."""
    (folder / "nets").mkdir()
    exported.saved(exported.image_network(), folder / "nets/ours.onnx", beside=True)
    exported.saved(exported.text_network(), folder / "nets/words.onnx")
    (folder / "matrix.yaml").write_text(MATRIX)


@dataclass
class EngineBench(Bench):
    """Measures inference of the network that a request names, if its files are those that were planned."""

    name: str = "docker"
    given: dict[str, set[str]] = field(default_factory=dict)
    """The networks that each cell was given, by their entry."""

    @staticmethod
    def seen(folder: Path, place: str) -> str:
        """Return the place where a launch finds a folder, which nothing mounts here."""
        del place
        return str(folder)

    def launch(self, task: Task, *, stop: Stop, watch: Watch) -> Ended:
        request = json.loads((task.folder / "request.json").read_text())
        network = request["network"]
        assert networks.sha256(network) == network["sha256"]
        self.given.setdefault(request["cell"], set()).add(network["file"])
        ended = super().launch(task, stop=stop, watch=watch)
        result = task.folder / "result.json"
        if not result.exists():
            return ended
        measured = json.loads(result.read_text()) | {"loss": None}
        measured["facts"] |= {"network": networks.fed_sha256(network)}
        result.write_text(json.dumps(measured))
        return ended
