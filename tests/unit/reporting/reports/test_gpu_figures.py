"""The samples of GPUs, in the report of a run."""

import csv
import io
import json
from dataclasses import replace

from orchestrator.reporting.findings.compose import compose
from orchestrator.reporting.findings.model import Report
from orchestrator.reporting.formats import render
from orchestrator.reporting.reports.run import RUN
from orchestrator.results.contract import Conditions
from orchestrator.results.evidence import Stored
from orchestrator.results.telemetry.contract import GpuSeries, Telemetry
from orchestrator.wording import memory
from tests.unit.reporting import synthetic as s

TORCH = replace(s.cell(s.TORCH), repeats=1)
AT_S = tuple(100.0 + number / 2 for number in range(1001))
MEMORY = (8 * 2**30, *(2 * 2**30,) * 1000)


def sampled(stored: Stored, *, counter: bool = True) -> Stored:
    """A repeat whose blocks follow each other from second 101 on, on a GPU of 100 W."""
    assert stored.result is not None
    blocks, begin_s = [], 101.0
    for block in stored.result.blocks:
        seen = Conditions(begin_s=begin_s, wall_s=block.wall_s, cpu_s=1.0)
        blocks.append(block.model_copy(update={"conditions": seen}))
        begin_s += block.wall_s
    energy = {"energy_j": tuple(100.0 * at_s for at_s in AT_S)} if counter else {}
    gpu = GpuSeries(uuid="GPU-0", memory_bytes=MEMORY, power_w=(100.0,) * 1001, busy_percent=(95.0,) * 1001, **energy)
    series = Telemetry(period_s=0.5, due=50, in_time=49, at_s=AT_S, gpus=(gpu,))
    return replace(stored, result=stored.result.model_copy(update={"blocks": tuple(blocks)}), telemetry=series)


def report(*stored: Stored) -> Report:
    plan = s.plan([TORCH])
    return compose(s.record(plan), plan, list(stored))


def rows(shown: Report) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(render(RUN, shown, "csv"))))


UNSAMPLED = s.ok(TORCH, [100.0])
SAMPLED = [sampled(each) for each in UNSAMPLED]


def test_records_have_what_was_sampled() -> None:
    (row,) = rows(report(*SAMPLED))

    assert (row["gpu_busy"], row["gpu_peak_bytes"], row["gpu_timed_peak_bytes"]) == ("0.95", str(2**33), str(2**31))
    assert (row["gpu_energy_from"], row["gpu_samples_in_time"]) == ("counter", "0.98")
    assert abs(float(row["energy per sample (J)"]) - 1.0) < 0.01, "100 W at 100 samples/s"


def test_integrated_power_is_marked() -> None:
    shown = report(*(sampled(each, counter=False) for each in UNSAMPLED))

    assert rows(shown)[0]["gpu_energy_from"] == "power"
    assert "from samples of the power" in render(RUN, shown, "html")
    assert "from samples of the power" not in render(RUN, report(*SAMPLED), "html")


def test_reports_show_energy_and_both_memories() -> None:
    page = render(RUN, report(*SAMPLED), "html")

    assert "… after warm-up" in page
    assert memory(3 * 2**20) not in page
    assert memory(2**33) in page
    assert memory(2**31) in page
    assert "energy per sample (J)" in render(RUN, report(*SAMPLED), "md")
    data = json.loads(render(RUN, report(*SAMPLED), "json"))["data"]
    (gpus,) = (repeat["measurement"]["gpus"] for cell in data["cells"] for repeat in cell["repeats"])
    assert gpus["series"] == {"in_time": 0.98, "busy": 0.95, "peak_bytes": 2**33, "timed_peak_bytes": 2**31}


def test_the_allocators_peak_after_warm_up_is_shown() -> None:
    (stored,) = SAMPLED
    assert stored.result is not None
    peaks = {"peak_device_bytes": 5 * 2**20, "steady_peak_device_bytes": 3 * 2**20}
    with_peaks = stored.result.memory.model_copy(update=peaks)
    shown = report(replace(stored, result=stored.result.model_copy(update={"memory": with_peaks})))

    page = render(RUN, shown, "html")
    assert memory(5 * 2**20) in page
    assert memory(3 * 2**20) in page
    assert '"steady_peak_device_bytes": 3145728' in render(RUN, shown, "json")


def test_runs_without_series_have_no_place_for_them() -> None:
    shown = report(*UNSAMPLED)

    assert not {name for name in rows(shown)[0] if name.startswith(("gpu_", "energy"))} - {
        "gpu_energy_j", "gpu_hottest_c",
    }  # fmt: skip
    assert "energy per sample" not in render(RUN, shown, "md")
    assert "joules_per_sample" not in render(RUN, shown, "json")
