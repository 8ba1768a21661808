"""The devices that this process may use: those of the host, or of the job that a scheduler has started it in."""

from orchestrator.devices import Inventory, inventory
from orchestrator.devices.job_bounds import bounded, job_bounds
from orchestrator.workflows.host.host import Host


def inventory_of(host: Host) -> Inventory:
    """Take the inventory of a host, within the bounds of a job."""
    return bounded(inventory(), job_bounds(host.environment))
