"""The way in which an engine gives GPUs to a container, found by starting one."""

from dataclasses import replace

import docker
import requests
from docker.errors import APIError, DockerException

from orchestrator.engine import gpu_access, ownership
from orchestrator.engine.confinement import covered_volumes, host_options, profile_for
from orchestrator.engine.gpu_access import ALL, GpuAccess
from orchestrator.engine.health import start
from orchestrator.engine.images import one_line
from orchestrator.engine.questions import LIMITS
from orchestrator.processes import StartError


def working(client: docker.DockerClient, image: str) -> GpuAccess | str:
    """Return the first way in which a container of an image gets all GPUs, or why there is none.

    The container is confined as one that measures: with a root that it cannot write to, some hooks fail.
    """
    faults = []
    for access in gpu_access.candidates(client.info()):
        fault = _fault(client, image, access)
        if not fault:
            return access
        faults.append(f"{access}: {fault}")
    return "; ".join(faults)


def _fault(client: docker.DockerClient, image: str, access: GpuAccess) -> str:
    """Return why a container of an image does not start with all GPUs, or an empty text."""
    try:
        limits = replace(LIMITS, seccomp=profile_for(client))
        with covered_volumes(client, image, (), {ownership.LABEL: str(ownership.this_process())}) as volumes:
            options = host_options(limits) | {"mounts": volumes} | gpu_access.host_settings(access, [ALL])
            start(client, image, options, gpu_access.variables(access, [ALL]))
    except APIError as error:
        return one_line(str(error.explanation or error))
    except (DockerException, requests.exceptions.RequestException, StartError) as error:
        return one_line(str(error))
    return ""
