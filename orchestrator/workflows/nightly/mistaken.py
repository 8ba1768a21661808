"""The end of a night by a mistake of its files: it leaves no record, and programs outside are told all the same."""

import contextlib
from datetime import UTC, datetime

from orchestrator.build_settings import BuildSettings
from orchestrator.errors import HostError, InputError
from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.loading import Nightly
from orchestrator.regression.nightly.notify import message
from orchestrator.regression.nightly.state import Ending, Night
from orchestrator.regression.nightly.watch.heartbeat import heartbeat, metrics
from orchestrator.reporting.formats.html import INDEX
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.inputs.planned_matrix import site_settings
from orchestrator.workflows.nightly.reports import notify


def tell_of_mistake(nightly: Nightly, error: InputError, host: Host) -> None:
    """Write the metrics after a mistaken night, and send the alarm if there was no result for too long.

    The nights before it say how long that is. Without any, nothing is written. What cannot be written or sent hides no
    mistake.
    """
    files = NightFiles(nightly.reports)
    with contextlib.suppress(HostError, InputError):
        nights = files.nights()
        if not nights:
            return
        with files.held():
            night = _mistaken(nights, error, nightly.settings.heartbeat)
            files.write_metrics(metrics(night, InputError.exit_code))
        webhook = nightly.settings.webhook
        if webhook and night.is_silent:
            told = message(night, str(files.folder / INDEX)) | {"exit_code": InputError.exit_code}
            posted = notify(webhook, told, site_settings(BuildSettings(), None, host.environment), host.environment)
            if not posted.delivered:
                host.say(f"{posted.url}: the alarm was not delivered: {posted.reason}")


def _mistaken(nights: list[Night], error: InputError, limit: int) -> Night:
    """Return a night without any result, after those that are recorded."""
    now = datetime.now(UTC)
    at = now.isoformat(timespec="seconds")
    unlike = {
        "tried": (), "waiting": (), "given_up": (), "changes": (), "removed_images": (), "offered": (),
        "self_test": None, "posted": None,
    }  # fmt: skip
    own = {"began_at": at, "ended_at": at, "ending": Ending.NO_RESULT, "problems": error.messages}
    return nights[-1].model_copy(update={**unlike, **own, "heartbeat": heartbeat(nights, now, limit)})
