"""Facts of hosts as they are compared.

What an administrator sets on a GPU makes no other host of it, and which CPUs a process was given no other CPU.
"""

from typing import Any

from orchestrator.regression.judge.comparable import environment_fact, host_fact

OLD = {"index": 0, "uuid": "GPU-0", "name": "Example GPU", "memory_bytes": 7}
"""A GPU as earlier versions recorded it."""


def test_a_gpu_is_the_same_with_more_facts() -> None:
    new = OLD | {"compute_capability": "9.0", "power_limit_w": 700.0, "nvlinks": [1]}

    assert host_fact({"gpus": [new]}, "gpus") == host_fact({"gpus": [OLD]}, "gpus") == [OLD]
    assert host_fact({"gpus": [OLD | {"uuid": "GPU-1"}]}, "gpus") != [OLD]


def test_unknown_facts_are_none() -> None:
    assert host_fact({}, "gpus") is None
    assert host_fact({"gpus": []}, "gpus") == []
    assert host_fact({"cpu": "Example CPU"}, "cpu") == "Example CPU"


def test_cpu_is_the_same_with_as_many_for_a_process() -> None:
    cpu: dict[str, Any] = {"model": "Example CPU", "logical": 64, "governor": "performance"}
    first, second, fewer = (cpu | {"affinity": usable} for usable in ([0, 1], [2, 3], [2]))

    assert environment_fact("cpu", first) == "Example CPU, 2 of 64 CPUs, governor performance"
    assert environment_fact("cpu", second) == environment_fact("cpu", first)
    assert environment_fact("cpu", fewer) != environment_fact("cpu", first)
    assert environment_fact("cpu", first | {"model": "Other"}) != environment_fact("cpu", first)
    assert environment_fact("cpu", "as older results name it") == "as older results name it"
    assert environment_fact("cpu", {"model": "without CPUs of its own"}) == "{'model': 'without CPUs of its own'}"
