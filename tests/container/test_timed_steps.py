"""The steps that are timed, as parity checks them: right optimizers keep their bars, and each wrong one is named."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from container_support import Check
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.parity import timed_steps, update_rules
from benchmarks.vocabulary import optimizers
from orchestrator.analysis.parity import optimizer
from orchestrator.analysis.parity.sides import ParitySide
from orchestrator.analysis.parity.work import PairParity, WorkParity, pair
from orchestrator.domain import Framework, ImageSpec, Mode
from orchestrator.results.parity.contract import ParityResult
from orchestrator.runtimes.model import Ready
from tests.documented import blocks

Environment = tuple[ImageSpec, Ready]

SMALL = """
TITLE, INPUT_SHAPE, CLASSES, BATCH_SIZE, SAMPLES = "Small", (1, 8, 8), 10, 64, 1024
OPTIMIZER = {optimizer}
def build(net):
    x = net.relu(net.conv2d(net.input(*INPUT_SHAPE), 8, 3))
    return net.dense(net.flatten(x), CLASSES)
"""
(WIDE,) = blocks("models.md", "A model of your own", "python")
IN_MXNET, IN_TORCH = blocks("models.md", "A framework's own definition", "python")
OPTIMIZERS: dict[str, dict[str, Any]] = {
    "sgd": {"name": "sgd", "learning_rate": 0.05},
    "momentum": {"name": "sgd", "learning_rate": 0.1, "momentum": 0.9},
    "adam": {"name": "adam", "learning_rate": 0.001},
    "adam-set": {"name": "adam", "learning_rate": 0.01, "beta_1": 0.8, "beta_2": 0.99, "epsilon": 1e-4},
    "adadelta": {"name": "adadelta", "learning_rate": 1.0},
    "decay": {"name": "sgd", "learning_rate": 0.1, "momentum": 0.9, "decay": 0.5},
    "adam-decay": {"name": "adam", "learning_rate": 0.01, "decay": 0.1},
    "rmsprop-set": {"name": "rmsprop", "learning_rate": 0.001, "rho": 0.8, "epsilon": 1e-5},
}
IN_EVERY = {"momentum", "rmsprop-set"}


def judged(one: ParityResult, other: ParityResult) -> PairParity:
    """The verdict on two answers, which must be the same from either side."""
    sides = [ParitySide(name, Framework(name, "1"), (), each) for name, each in (("right", one), ("other", other))]
    verdict, reverse = pair(*sides, Mode.TRAIN), pair(*reversed(sides), Mode.TRAIN)
    assert verdict.work is reverse.work
    return verdict


@pytest.mark.frameworks
@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(each, marks=() if name in IN_EVERY else pytest.mark.slow_in("torch"))
        for name, each in OPTIMIZERS.items()
    ],
    ids=OPTIMIZERS,
)
def test_optimizers_of_builders_keep_their_rule(check: Check, tmp_path: Path, settings: dict[str, Any]) -> None:
    """The form of the rule that fits is one of two that are known, and the other one would not fit."""
    (tmp_path / "small.py").write_text(SMALL.format(optimizer=settings))

    answer = check("small", model_file="small.py")

    assert answer.optimizer is not None
    assert answer.optimizer.settings == optimizers.complete(settings)
    side = ParitySide("here", Framework("here", "1"), (), answer)
    (rule,) = optimizer._from_rule(side, answer.optimizer)
    assert rule.value < rule.bar / 2, rule.text
    tensors = answer.optimizer.tensors.values()
    assert sum(each.left_out for each in tensors) < 0.1 * sum(each.elements for each in tensors)
    assert judged(answer, answer).work is WorkParity.SAME


WORDS = """
TITLE, INPUT_SHAPE, CLASSES, BATCH_SIZE, SAMPLES = "Words", (7,), 5, 32, 1024
OPTIMIZER = {optimizer}
def build(net):
    words = net.embedding(net.input(7, kind="integer", vocabulary=23), 12)
    return net.dense(net.lstm(words, 6), CLASSES)
"""


@pytest.mark.frameworks
@pytest.mark.parametrize(
    "name", ["adam", pytest.param("rmsprop", marks=pytest.mark.slow), pytest.param("sgd", marks=pytest.mark.slow)]
)
def test_words_that_occur_twice_take_one_step(check: Check, tmp_path: Path, name: str) -> None:
    """Frameworks whose gradients have an entry for each occurrence add the entries up before the optimizer's rule."""
    (tmp_path / "words.py").write_text(WORDS.format(optimizer={"name": name, "learning_rate": 0.001}))

    answer = check("words", model_file="words.py", batch_size=32)

    if "training" in answer.lacking:
        pytest.skip("an engine trains nothing")
    assert answer.optimizer is not None
    (rule,) = optimizer._from_rule(ParitySide("here", Framework("here", "1"), (), answer), answer.optimizer)
    assert rule.value < rule.bar / 2, rule.text


PLANTED_IN_MXNET = {
    "no momentum": ('"momentum": momentum', '"momentum": 0.0'),
    "learning rate": ('"learning_rate": rate', '"learning_rate": rate * (1.001 if momentum else 1)'),
    "weight decay": ('"momentum": momentum', '"momentum": momentum, "wd": 1e-3 if momentum else 0.0'),
    "clipping": ('"momentum": momentum', '"momentum": momentum, "clip_gradient": 1e-2 if momentum else None'),
    "summed": ("trainer.step(workload.batch_size)", "trainer.step(1 if momentum else workload.batch_size)"),
    "twice": (
        "        return step\n\n    def synchronise",
        "        return (lambda batch: (step(batch), step(batch))[1]) if momentum else step\n\n    def synchronise",
    ),
    "biases": (
        "loss_of = gluon",
        'self.dense[0][1].bias.grad_req = "null" if momentum else "write"\n        loss_of = gluon',
    ),
}
PLANTED_IN_TORCH = {
    "no momentum": ("momentum=momentum", "momentum=0.0"),
    "nesterov": ("momentum=momentum", "momentum=momentum, nesterov=momentum > 0"),
    "dampening": ("momentum=momentum", "momentum=momentum, dampening=0.1 if momentum else 0.0"),
    "weight decay": ("momentum=momentum", "momentum=momentum, weight_decay=1e-3 if momentum else 0.0"),
    "another": (
        "optimizer = torch.optim.SGD(self.network.parameters(), lr=rate, momentum=momentum)",
        "optimizer = (torch.optim.Adam if momentum else torch.optim.SGD)(self.network.parameters(), lr=rate)",
    ),
    "clipping": (
        "optimizer.step()",
        """most = 0.1 if momentum else 1e9
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), most)
            optimizer.step()""",
    ),
}


def own(folder: Path, text: str, plant: tuple[str, str] | None = None) -> dict[str, str]:
    """Write the page's model and a definition of it, with a fault in it; what the request says of them."""
    if plant:
        assert plant[0] in text
        text = text.replace(*plant)
    (folder / "wide.py").write_text(WIDE)
    (folder / "definition.py").write_text(text)
    return {"model_file": "wide.py", "definition_file": "definition.py"}


IN_BOTH = PLANTED_IN_MXNET.keys() & PLANTED_IN_TORCH.keys()
FAULTS = [
    pytest.param(name, marks=pytest.mark.slow_in("torch") if name in IN_BOTH | {"dampening", "another"} else ())
    for name in PLANTED_IN_MXNET | PLANTED_IN_TORCH
]


@pytest.mark.frameworks
@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_optimizer_of_a_definition_is_named(
    check: Check, environment: Environment, tmp_path: Path, fault: str
) -> None:
    """Each fault is in the optimizer of the model alone, so that plain steps of gradient descent do not show it."""
    definitions = {"mxnet": (IN_MXNET, PLANTED_IN_MXNET), "torch": (IN_TORCH, PLANTED_IN_TORCH)}
    text, plants = definitions.get(environment[0].environment.builder, ("", {}))
    if fault not in plants:
        pytest.skip("the page has definitions for MXNet and PyTorch, and each has faults of its own")
    right = check("wide", **own(tmp_path, text))
    assert judged(right, right).work is WorkParity.SAME

    verdict = judged(right, check("wide", **own(tmp_path, text, plants[fault])))

    assert verdict.work is WorkParity.NOT_COMPARABLE
    assert verdict.reason.startswith("3 steps of sgd from its rule, on dense_"), verdict.reason
    assert "in other (learning_rate 0.1, momentum 0.9): " in verdict.reason


@pytest.mark.frameworks
def test_definition_that_draws_its_own_weights_is_named(check: Check, environment: Environment, tmp_path: Path) -> None:
    """Its gradients at later weights cannot be had, which is no reason to call it the same work."""
    if environment[0].environment.builder != "torch":
        pytest.skip("one definition is enough")
    plant = (
        "drawn = workload.weights()",
        "from benchmarks.vocabulary import weights\n        drawn = weights.initial(workload.layers, workload.seed)",
    )

    answer = check("wide", **own(tmp_path, IN_TORCH, plant))

    assert (answer.lacking, answer.optimizer) == (("given_weights",), None)
    assert judged(answer, answer).reason == "right without given_weights; other without given_weights"


def gradients(*rows: list[float]) -> list[Any]:
    """One array for each step."""
    return [np.array(row) for row in rows]


def test_rules_are_those_of_the_vocabulary() -> None:
    """Worked out by hand: two steps of one element."""
    decayed = optimizers.complete({"name": "sgd", "learning_rate": 0.1, "momentum": 0.5, "decay": 1.0})
    forms = update_rules.forms(decayed, gradients([1.0], [2.0]))
    settings = optimizers.complete({"name": "adadelta", "learning_rate": 0.5, "rho": 0.75, "epsilon": 9.0})
    adadelta = update_rules.forms(settings, gradients([8.0]))
    sgd = update_rules.forms({"name": "sgd", "learning_rate": 0.1, "momentum": 0.9}, gradients([1.0], [2.0]))
    settings = optimizers.complete({"name": "rmsprop", "learning_rate": 0.1, "rho": 0.75, "epsilon": 3.0})
    rmsprop = update_rules.forms(settings, gradients([8.0]))
    settings = optimizers.complete({"name": "adam", "learning_rate": 0.1, "beta_2": 0.75, "epsilon": 3.0})
    adam = update_rules.forms(settings, gradients([8.0]))

    assert forms["rate_inside"] == pytest.approx([-0.1 - (0.05 + 0.1)])
    assert forms["rate_outside"] == pytest.approx([-0.1 - 0.05 * (0.5 + 2)])
    assert adadelta == {"adadelta": pytest.approx([-0.5 * 8 * 3 / 5])}
    assert sgd["sgd"] == pytest.approx([-0.1 - 0.29])
    assert rmsprop == {"inside": pytest.approx([-0.1 * 8 / 5]), "outside": pytest.approx([-0.1 * 8 / 7])}
    assert adam == {"corrected": pytest.approx([-0.1 * 8 / 11]), "uncorrected": pytest.approx([-0.1 * 8 / 14])}


@given(
    rows=st.lists(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=2), min_size=3, max_size=3),
    name=st.sampled_from(["adam", "rmsprop"]),
)
def test_forms_of_a_rule_differ_by_epsilon_alone(rows: list[list[float]], name: str) -> None:
    settings = optimizers.complete({"name": name, "learning_rate": 0.1, "epsilon": 0.0})

    one, other = update_rules.forms(settings, gradients(*rows)).values()

    assert one == pytest.approx(other, rel=1e-12)


def stored_moments(settings: dict[str, Any], rows: list[Any], factor: float = 1.0) -> timed_steps.Moments:
    """Return the moments of a framework that follows the rule, with its steps multiplied by a factor."""
    moments = timed_steps.Moments({"dense_1.weight": rows[0].size})
    for step, row in enumerate(rows):
        moments.store(timed_steps.Moments.GRADIENTS[step], {"dense_1.weight": row})
        taken = next(iter(update_rules.forms(settings, rows[: step + 1]).values()))
        moments.store(step + 1, {"dense_1.weight": factor * taken})
    moments.store(0, {"dense_1.weight": np.zeros(rows[0].size)})
    return moments


@pytest.mark.parametrize("settings", OPTIMIZERS.values(), ids=OPTIMIZERS)
@pytest.mark.parametrize("factor", [1.0, 1.001])
def test_distance_from_rule_is_that_of_steps(settings: dict[str, Any], factor: float) -> None:
    settings = optimizers.complete(settings)
    rows = [np.random.RandomState(step).normal(size=2000).astype(np.float32).astype(float) for step in range(3)]

    tensor = timed_steps.compared(stored_moments(settings, rows, factor), settings)["dense_1.weight"]

    fits = next(iter(tensor["forms"].values()))
    assert fits["apart"] / fits["moved"] == pytest.approx(factor - 1, abs=1e-7)
    assert (tensor["elements"], len(tensor["sample"]["moved"])) == (2000, timed_steps.SAMPLE)


@pytest.mark.parametrize(("name", "left_out"), [("sgd", 0), ("adam", 2), ("rmsprop", 2)])
def test_elements_whose_gradient_is_rounding_are_left_out(name: str, left_out: int) -> None:
    """One is small in the first step, one in the last."""
    settings = optimizers.complete({"name": name, "learning_rate": 0.1})
    rows = gradients([1.0, -1.0, 1e-6, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 0.0])

    tensor = timed_steps.compared(stored_moments(settings, rows), settings)["dense_1.weight"]

    assert (tensor["elements"], tensor["left_out"]) == (4, left_out)


def test_moments_are_shared_with_forked_processes() -> None:
    moments = timed_steps.Moments({"a": 2, "b": 3})
    child = os.fork()
    if child == 0:
        moments.store(1, {"b": np.array([3.0, 4.0, 5.0]), "a": np.array([[1.0, 2.0]])})
        os._exit(0)
    os.waitpid(child, 0)

    assert [moments.has(moment) for moment in range(7)] == [False, True, False, False, False, False, False]
    assert {name: list(value) for name, value in moments.stored(1).items()} == {"a": [1, 2], "b": [3, 4, 5]}
    assert moments.fits({"a": np.zeros((1, 2)), "b": np.zeros(3)})
    assert not moments.fits({"a": np.zeros(2)})
