"""The package that reads `matrix.yaml` into a `Matrix`, or reports all of its mistakes at once."""

from orchestrator.matrix.loading import build_settings, load, own_models
from orchestrator.matrix.long_form import long_form
from orchestrator.matrix.model import FrameworkAxes, Include, Matrix, ModelAxes, Rule, ScriptAxes, Settings, SubjectAxes
from orchestrator.matrix.own_data import own_datasets
from orchestrator.matrix.studies.shapes import schema

__all__ = [
    "FrameworkAxes",
    "Include",
    "Matrix",
    "ModelAxes",
    "Rule",
    "ScriptAxes",
    "Settings",
    "SubjectAxes",
    "build_settings",
    "load",
    "long_form",
    "own_datasets",
    "own_models",
    "schema",
]
