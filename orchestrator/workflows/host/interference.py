"""The proof that cells on different GPUs of a host do not disturb each other, kept for each host and driver."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from orchestrator.devices import Inventory
from orchestrator.results.files.writing import made_folder, write_atomically

TOLERANCE = 0.02
"""The most by which cells beside others may differ from the same cells alone."""
REMEDY = "orchestrator doctor --interference tries it"


@dataclass(frozen=True, slots=True)
class InterferenceProof:
    """The throughput of a cell beside others over that of the same cell alone, on the same GPU."""

    ratio: float
    """The geometric mean over the rounds."""
    low: float
    """Of its 95 % interval."""
    high: float
    rounds: int
    cell: str
    run: str
    """The folder of the run that it comes from."""
    cpu_cores: float | None = None
    """The cores that the cell kept busy beside others, as the median over its repeats.

    None if blocks were too short, and in older proofs."""

    @property
    def holds(self) -> bool:
        """Return true if the whole interval lies within the tolerance."""
        return self.low >= 1 - TOLERANCE and self.high <= 1 + TOLERANCE

    def __str__(self) -> str:
        """Return the proof in one line."""
        return f"{self.cell} beside others ran at {self.ratio:.3f} × its speed alone ({self.low:.3f}–{self.high:.3f})"


_PROOF = TypeAdapter(InterferenceProof)


def stored_proof(cache: Path, here: Inventory) -> InterferenceProof | None:
    """Return the proof of this host with this driver, or None if there is none that can be read."""
    try:
        return _PROOF.validate_json(_file(cache, here).read_bytes())
    except (OSError, ValidationError):
        return None


def store_proof(cache: Path, here: Inventory, proof: InterferenceProof) -> None:
    """Keep a proof in place of an earlier one. Raises `HostError` where it cannot be written."""
    path = _file(cache, here)
    made_folder(path.parent)
    write_atomically(path, json.dumps(asdict(proof), indent=1) + "\n")


def why_serial(proof: InterferenceProof | None, shares: object) -> str:
    """Return why the cells of this host run one after the other, or an empty text if they need not."""
    if not shares:
        return "there are fewer cores than GPUs"
    if proof is None:
        return f"nobody has tried whether cells on different GPUs disturb each other; {REMEDY}"
    return "" if proof.holds else f"{proof}, which is not within {TOLERANCE:.0%}"


def _file(cache: Path, here: Inventory) -> Path:
    host = [here.cpu_model, len(here.cpus), here.driver, sorted((gpu.uuid, gpu.name) for gpu in here.gpus)]
    name = hashlib.sha256(json.dumps(host).encode()).hexdigest()[:16]
    return cache / "interference" / f"{name}.json"
