"""The profile of system calls that ships with the program."""

import json
from typing import Any

import pytest

from orchestrator.resources import IMAGES

PROFILE: dict[str, Any] = json.loads((IMAGES / "seccomp.json").read_text(encoding="utf-8"))
ALLOWED = {name for rule in PROFILE["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" for name in rule["names"]}
UNCONDITIONAL = {
    name
    for rule in PROFILE["syscalls"]
    if rule["action"] == "SCMP_ACT_ALLOW" and not rule.get("args")
    for name in rule["names"]
}


@pytest.mark.parametrize(
    "name",
    [
        *("io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "perf_event_open", "userfaultfd", "ptrace"),
        *(
            "process_vm_readv",
            "process_vm_writev",
            "pidfd_getfd",
            "keyctl",
            "add_key",
            "request_key",
            "mount",
            "umount2",
        ),
        *("fsopen", "move_mount", "open_tree", "pivot_root", "chroot", "unshare", "setns", "clone3", "kexec_load"),
        *("init_module", "finit_module", "open_by_handle_at", "name_to_handle_at", "fanotify_init", "quotactl", "acct"),
        *("swapon", "reboot", "settimeofday", "clock_settime", "iopl", "ioperm", "syslog", "modify_ldt"),
    ],
)
def test_dangerous_calls_are_not_allowed(name: str) -> None:
    assert name not in ALLOWED


def test_what_is_not_named_is_refused() -> None:
    assert PROFILE["defaultAction"] == "SCMP_ACT_ERRNO"
    assert {rule["action"] for rule in PROFILE["syscalls"]} == {"SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"}
    assert not {"socket", "socketpair", "clone", "personality"} & UNCONDITIONAL


def test_sockets_are_of_four_families() -> None:
    rules = [rule for rule in PROFILE["syscalls"] if rule["names"] == ["socket"]]

    assert sorted(rule["args"][0]["value"] for rule in rules) == [1, 2, 10, 16]
    assert all(rule["args"][0] | {"value": 0} == {"index": 0, "value": 0, "op": "SCMP_CMP_EQ"} for rule in rules)


def test_no_second_architecture_leads_around_it() -> None:
    assert all(entry["subArchitectures"] == [] for entry in PROFILE["archMap"])


def test_no_call_is_named_twice() -> None:
    names = [name for rule in PROFILE["syscalls"] if not rule.get("args") for name in rule["names"]]

    assert len(names) == len(set(names))
