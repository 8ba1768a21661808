"""One module for each mode of a workload, named as `matrix.yaml` names it.

Its `RULES` describe the mode. `benchmarks/modes/` has a module of the same name, which carries the mode out.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from orchestrator.modes.parts.largest_batch import LARGEST_BATCH, of_search
from orchestrator.modes.parts.metrics import Metric
from orchestrator.modes.parts.rules import ModeRules
from orchestrator.modes.parts.sizes import AXES as OF_SIZES
from orchestrator.modes.parts.sizes import SIZE


def _read() -> Mapping[str, ModeRules]:
    names = [module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg]
    rules: dict[str, ModeRules] = {name: importlib.import_module(f"{__name__}.{name}").RULES for name in names}
    return MappingProxyType(dict(sorted(rules.items(), key=lambda item: (item[1].position, item[0]))))


def _metrics(modes: Mapping[str, ModeRules]) -> Mapping[str, Metric]:
    """Return the metrics of modes by name. Raises `ValueError` if two different ones share a name."""
    metrics: dict[str, Metric] = {}
    for mode, rules in modes.items():
        for metric in rules.metrics:
            if metrics.setdefault(metric.name, metric) != metric:
                raise ValueError(f"mode {mode!r}: another mode has a different metric {metric.name!r}; rename one")
    return metrics


RULES: Final = _read()
"""Every mode by its name, in the order of lists."""
SEARCHES: Final[Mapping[str, ModeRules]] = MappingProxyType({name: of_search(rules) for name, rules in RULES.items()})
"""The rules of each mode where the largest batch is looked for."""
OF_MODELS: Final = tuple(name for name, rules in RULES.items() if rules.times_steps and rules.subjects is None)
"""Modes in which a model can be measured."""
UNDER_LOAD: Final = frozenset(name for name, rules in RULES.items() if rules.takes_load)
"""Modes whose samples are asked for by a load."""
BY_TOKENS: Final = MappingProxyType({name: rules.by_tokens for name, rules in RULES.items() if rules.by_tokens})
"""The rules of the modes under load, where it asks for tokens after prompts."""
GENERATING: Final = frozenset(name for name, rules in RULES.items() if rules.generates) | frozenset(BY_TOKENS)
"""Modes that generate tokens, or can."""
OF_SUBJECTS: Final = MappingProxyType({name: rules.subjects for name, rules in RULES.items() if rules.subjects})
"""Subjects of the modes that measure something else than models."""
AXES: Final = frozenset((SIZE, *OF_SIZES, *(axis.name for subjects in OF_SUBJECTS.values() for axis in subjects.axes)))
"""Names of the axes of those subjects and of models, which a rule of the matrix may name beside options."""
METRICS: Final[tuple[Metric, ...]] = (*_metrics(RULES).values(), LARGEST_BATCH)
"""Metrics of all modes, each once."""
