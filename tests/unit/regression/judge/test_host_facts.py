"""Facts of hosts as they are compared: what an administrator sets on a GPU makes no other host of it."""

from orchestrator.regression.judge.comparable import host_fact

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
