"""The tests of this folder that an engine cannot pass, each with the reason: the one list of them."""

import os
from functools import cache

from orchestrator.engine import abilities
from orchestrator.engine.abilities import Abilities, EngineKind
from orchestrator.engine.client import connect
from orchestrator.errors import HostError

_OWN_DOCKER = "it starts and stops a second engine, which is Docker"
PODMAN = {
    "test_results_folder_of_odd_name_is_mounted": "a comma in a folder's path ends the path",
    "test_container_gets_no_name_server_or_domain": (
        "without a network a container sees the /etc/resolv.conf of its image, and none of the host"
    ),
    "test_asked_image_shares_no_memory": (
        "a namespace of its own for shared memory cannot be asked for: others of the engine may join it"
    ),
    "test_stop_ends_a_build_and_leaves_no_name": (
        "Podman goes on with a build that nobody waits for, and its service ends with it"
    ),
    "test_results_belong_to_the_user_not_to_root": "the socket of a rootful Podman is for root alone",
    "test_faults_engine": _OWN_DOCKER,
}
"""Of any Podman, by the name of the test, with the begin of a case of it, or of its file."""


@cache
def of_this_host() -> Abilities | None:
    """Return the abilities of the engine that the tests run with, or None if none answers."""
    try:
        client = connect(os.environ)
    except HostError:
        return None
    try:
        return abilities.read(client)
    finally:
        client.close()


def reason(file: str, test: str, engine: Abilities) -> str | None:
    """Return why a test cannot pass on an engine, or None. `file` is its name without the ending."""
    known = PODMAN if engine.kind is EngineKind.PODMAN else {}
    names = (file, test.partition("[")[0], test.partition("-")[0])
    return next((known[name] for name in names if name in known), None)
