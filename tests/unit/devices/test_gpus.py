"""GPUs as a driver describes them, by a stub of its library, since the hosts of these tests have none."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from orchestrator.devices.gpus import Gpu, look

Stub = Callable[..., None]
MIB = 2**20


def refuses(*_: object) -> None:
    raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)


def of_one(handle: int) -> SimpleNamespace:
    return SimpleNamespace(busId=f"0000{handle:04X}:1B:00.0".encode())


ANSWERS: Mapping[str, Any] = {
    "nvmlInit": lambda: None,
    "nvmlShutdown": lambda: None,
    "nvmlSystemGetDriverVersion": lambda: "570.1",
    "nvmlDeviceGetCount": lambda: 2,
    "nvmlDeviceGetHandleByIndex": lambda index: index,
    "nvmlDeviceGetIndex": lambda handle: handle,
    "nvmlDeviceGetUUID": lambda handle: f"GPU-{handle}",
    "nvmlDeviceGetName": lambda _: "Example H100",
    "nvmlDeviceGetMemoryInfo": lambda _: SimpleNamespace(total=80 * 2**30),
    "nvmlDeviceGetCudaComputeCapability": lambda _: (9, 0),
    "nvmlDeviceGetEccMode": lambda _: (1, 1),
    "nvmlDeviceGetComputeMode": lambda _: 3,
    "nvmlDeviceGetPowerManagementLimit": lambda _: 700_000,
    "nvmlDeviceGetPciInfo": of_one,
    "nvmlDeviceGetNvLinkState": lambda _, link: int(link < 2),
    "nvmlDeviceGetNvLinkRemotePciInfo": lambda handle, _: of_one(1 - handle),
    "nvmlDeviceGetHandleByPciBusId": lambda bus: int(bus[4:8], 16),
    "nvmlDeviceGetMigMode": lambda _: (0, 0),
}


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Stub:
    """Stub the driver's library: two GPUs with links to each other, but for what is said otherwise."""

    def stub(**changes: Any) -> None:
        for name, answer in (ANSWERS | changes).items():
            monkeypatch.setattr(pynvml, name, answer)

    return stub


def test_all_that_is_told_is_in_the_inventory(driver: Stub, tmp_path: Path) -> None:
    (tmp_path / "0000:1b:00.0").mkdir()
    (tmp_path / "0000:1b:00.0/numa_node").write_text("1\n")
    driver()
    found = look(tmp_path)

    assert (found.version, found.fault) == ("570.1", "")
    assert found.gpus[0] == Gpu(
        0, "GPU-0", "Example H100", 80 * 2**30, None, "9.0", 1, (1,), ecc=True, compute_mode="exclusive process",
        power_limit_w=700.0,
    )  # fmt: skip
    assert found.gpus[1].nvlinks == (0,)


@pytest.mark.parametrize("node", ["-1", "none", None])
def test_a_node_the_kernel_does_not_know_is_none(driver: Stub, tmp_path: Path, node: str | None) -> None:
    (tmp_path / "0000:1b:00.0").mkdir()
    if node is not None:
        (tmp_path / "0000:1b:00.0/numa_node").write_text(node)
    driver()

    assert look(tmp_path).gpus[0].numa_node is None


def test_what_a_gpu_does_not_tell_is_none(driver: Stub, tmp_path: Path) -> None:
    driver(**{name: refuses for name in ANSWERS if name.startswith("nvmlDeviceGet") and name[13:] not in NEEDED})

    assert look(tmp_path).gpus == (Gpu(0, "GPU-0", "Example H100", None), Gpu(1, "GPU-1", "Example H100", None))


def test_a_lost_gpu_at_the_end_of_a_link_takes_no_other(driver: Stub, tmp_path: Path) -> None:
    """The GPU at this end is usable, without that link."""

    def handle(index: int) -> int:
        if index == 1:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
        return index

    driver(nvmlDeviceGetHandleByIndex=handle, nvmlDeviceGetHandleByPciBusId=lambda bus: handle(int(bus[4:8], 16)))
    inventory = look(tmp_path)

    assert [(gpu.index, gpu.nvlinks) for gpu in inventory.gpus] == [(0, ())]
    assert inventory.fault == "GPU 1: GPU is lost"


def test_a_divided_gpu_without_parts_is_a_fault(driver: Stub, tmp_path: Path) -> None:
    driver(nvmlDeviceGetMigMode=lambda handle: (int(handle == 0), 0), nvmlDeviceGetMaxMigDeviceCount=lambda _: 0)
    inventory = look(tmp_path)

    assert [gpu.index for gpu in inventory.gpus] == [1]
    assert inventory.fault == "GPU 0 is divided (MIG) and has no parts"


NEEDED = {"Count", "HandleByIndex", "UUID", "Name"}


def test_parts_take_the_place_of_a_divided_gpu(driver: Stub, tmp_path: Path) -> None:
    """The second of three places has no part. A part has the limits of its GPU and memory of its own."""

    def part(handle: int, number: int) -> str:
        return f"{handle}/{number}" if number != 1 else str(refuses())

    driver(
        nvmlDeviceGetMigMode=lambda handle: (int(handle == 0), 0),
        nvmlDeviceGetMaxMigDeviceCount=lambda _: 3,
        nvmlDeviceGetMigDeviceHandleByIndex=part,
        nvmlDeviceGetUUID=lambda handle: f"MIG-{handle}" if isinstance(handle, str) else f"GPU-{handle}",
        nvmlDeviceGetName=lambda handle: f"Example H100{' MIG 1g.10gb' if isinstance(handle, str) else ''}",
        nvmlDeviceGetAttributes_v2=lambda _: SimpleNamespace(memorySizeMB=9856),
    )
    found = look(tmp_path).gpus

    assert [(gpu.index, gpu.uuid, gpu.mig) for gpu in found] == [
        (0, "MIG-0/0", "1g.10gb"), (0, "MIG-0/2", "1g.10gb"), (1, "GPU-1", None),
    ]  # fmt: skip
    assert (found[0].memory_bytes, found[0].power_limit_w) == (9856 * MIB, 700.0)
