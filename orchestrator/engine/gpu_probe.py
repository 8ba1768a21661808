"""The way in which an engine gives GPUs to a container, found by asking CUDA in one."""

from collections.abc import Sequence
from dataclasses import dataclass

import docker
from docker.errors import DockerException
from requests.exceptions import RequestException

from orchestrator.engine import gpu_access
from orchestrator.engine.abilities import gpu_problem
from orchestrator.engine.containers import ContainerSpec
from orchestrator.engine.gpu_access import GpuAccess
from orchestrator.engine.images import BuildError, one_line
from orchestrator.engine.questions import USER, answer_of, interpreter

_TIMEOUT_S = 120.0
_ANSWER_BYTES = 1 << 16
_COUNT = """\
import ctypes, sys
try:
    cuda = ctypes.CDLL("libcuda.so.1")
except OSError:
    sys.exit("the container has no libcuda.so.1")
count = ctypes.c_int()
error = cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count))
if error:
    sys.exit("CUDA answers in the container with error %d" % error)
print(count.value)
"""


@dataclass(frozen=True, slots=True)
class NoAccess:
    """The reason that an engine gives containers no GPUs, and what would change that."""

    reason: str
    remedy: str


def working(client: docker.DockerClient, image: str, uuids: Sequence[str]) -> GpuAccess | NoAccess:
    """Return the first way in which a container of an image gets these GPUs, or why there is none.

    The container is confined as one that measures: with a root that it cannot write to, some hooks fail. Parts of
    divided GPUs are asked for one by one, as a process sees one of them only.
    """
    try:
        information, version = client.info(), client.version()
    except (DockerException, RequestException) as error:
        return NoAccess(one_line(str(error)), "see that the engine answers")
    problem = gpu_problem(version)
    faults = [problem] if problem else []
    asked = [uuid for uuid in uuids if not uuid.startswith("MIG-")] or list(uuids[:1])
    for access in gpu_access.candidates(information, version):
        fault = _fault(client, image, access, asked)
        if not fault:
            return access
        faults.append(f"{access}: {fault}")
    return NoAccess("; ".join(faults), gpu_access.remedy(version))


def _fault(client: docker.DockerClient, image: str, access: GpuAccess, uuids: Sequence[str]) -> str:
    """Return why a container of an image does not see these GPUs, or an empty text."""
    try:
        document = client.api.inspect_image(image)  # type: ignore[no-untyped-call]  # the library has no types here
        spec = ContainerSpec(
            image, None, USER, ("-I", "-S", "-c", _COUNT), program=interpreter(document),
            gpus=tuple(uuids), gpu_access=access,
        )  # fmt: skip
        with answer_of(client, spec, _TIMEOUT_S, _ANSWER_BYTES) as answer:
            count = answer.read().strip()
    except BuildError as error:
        return str(error)
    except (DockerException, RequestException) as error:
        return one_line(str(error))
    return "" if count == str(len(uuids)) else f"the container sees {count} of {len(uuids)} GPUs"
