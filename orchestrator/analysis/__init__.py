"""The statistics of samples, with estimates, ratios, verdicts and ranks, and without I/O."""

from orchestrator.analysis.change_points import ChangePoint, change_points
from orchestrator.analysis.comparison import POWER, Comparison, compare
from orchestrator.analysis.estimates import CONFIDENCE, PREDICTION, Estimate, estimate, prediction, variation
from orchestrator.analysis.looks import ALPHA, LOOKS, Look, looks
from orchestrator.analysis.measurements import (
    PHASES,
    CurvePoint,
    Epochs,
    Measurement,
    RepeatEpochs,
    RepeatMeasurement,
    epoch_totals,
    measurement,
    repeat_epochs,
    repeat_measurement,
)
from orchestrator.analysis.percentiles import Bounds, Percentiles, bounds, least_steps, percentiles, quantiles
from orchestrator.analysis.printed import Printed, printed
from orchestrator.analysis.ratios import (
    TOLERANCE,
    Rank,
    Ratio,
    ranks,
    ranks_by_intervals,
    ratio,
    ratio_matrix,
)
from orchestrator.analysis.resources import GpuUse, ProcessUse
from orchestrator.analysis.verdicts import Verdict

__all__ = [
    "ALPHA",
    "CONFIDENCE",
    "LOOKS",
    "PHASES",
    "POWER",
    "PREDICTION",
    "TOLERANCE",
    "Bounds",
    "ChangePoint",
    "Comparison",
    "CurvePoint",
    "Epochs",
    "Estimate",
    "GpuUse",
    "Look",
    "Measurement",
    "Percentiles",
    "Printed",
    "ProcessUse",
    "Rank",
    "Ratio",
    "RepeatEpochs",
    "RepeatMeasurement",
    "Verdict",
    "bounds",
    "change_points",
    "compare",
    "epoch_totals",
    "estimate",
    "least_steps",
    "looks",
    "measurement",
    "percentiles",
    "prediction",
    "printed",
    "quantiles",
    "ranks",
    "ranks_by_intervals",
    "ratio",
    "ratio_matrix",
    "repeat_epochs",
    "repeat_measurement",
    "variation",
]
