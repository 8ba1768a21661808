"""The notification of another program by one POST of JSON, retried, and signed if there is a key."""

import hashlib
import hmac
import time
from collections.abc import Callable, Mapping

import requests

from orchestrator.regression.nightly.state import Night, Posted
from orchestrator.regression.nightly.watch.quiet import self_night
from orchestrator.regression.releases.package_index import within, without_credentials
from orchestrator.regression.releases.pages import one_line

SIGNATURE_HEADER = "X-Orchestrator-Signature"
_PAUSE_S = 1.0


def message(night: Night, report: str) -> dict[str, object]:
    """Return the message, a night in short. `report` is the path of its page."""
    return {
        "event": "nightly",
        "schema": 1,
        "night": night.night,
        "host": night.host,
        "watched": night.watched,
        "baseline": night.baseline,
        "accepted": night.accepted,
        "ending": night.ending.value,
        "exit_code": night.exit_code,
        "releases": [
            {"version": one.record.version, "judgement": one.record.judgement.value, "reason": one.record.reason}
            for one in night.tried
        ],
        "waiting": list(night.waiting),
        "given_up": [record.version for record in night.given_up],
        "alarms": [alarm.model_dump(mode="json", exclude={"acknowledged"}) for alarm in night.alarms],
        "changes": [change.model_dump(mode="json") for change in night.changes],
        "problems": list(night.problems),
        "report": report,
        **_watch(night),
    }


def _watch(night: Night) -> dict[str, object]:
    """Return what a night says of the anchor, of its rig and of the heartbeat, if it says something."""
    parts: dict[str, object] = {}
    if night.drifts:
        parts["drifts"] = [drift.model_dump(mode="json", exclude={"acknowledged"}) for drift in night.drifts]
    test = self_night(night)
    if test is not None:
        parts["self_test"] = {
            "release": test.release,
            "comparisons": test.comparisons,
            "alarms": list(test.alarms),
            "floor": test.floor,
        }
    if night.noise is not None:
        parts["noise"] = night.noise.model_dump(mode="json")
    if night.heartbeat is not None:
        parts["heartbeat"] = night.heartbeat.model_dump(mode="json")
    return parts


def signature(key: str, body: bytes) -> str:
    """Return `sha256=` and the HMAC of the body, as RFC 2104 has it."""
    return "sha256=" + hmac.new(key.encode(), body, hashlib.sha256).hexdigest()


def post(  # noqa: PLR0913 -- what one delivery depends on
    url: str,
    body: bytes,
    *,
    key: str = "",
    timeout_s: float,
    attempts: int,
    proxies: Mapping[str, str] | None = None,
    verify: str | bool = True,
    pause: Callable[[float], None] = time.sleep,
) -> Posted:
    """Deliver a message. A failure after all attempts is reported and raises nothing.

    `timeout_s` is that of one attempt, from its begin to the answer's status; `proxies` are by scheme; `verify` may be
    a bundle of certificates. An answer of 4xx is final, but 408 and 429.
    """
    headers = {"Content-Type": "application/json", **({SIGNATURE_HEADER: signature(key, body)} if key else {})}

    def attempted() -> int:
        with requests.Session() as session:
            session.trust_env = False
            session.verify = verify
            session.proxies = dict(proxies or {})
            with session.post(
                url, data=body, headers=headers, timeout=timeout_s, allow_redirects=False, stream=True
            ) as answer:
                return answer.status_code

    reason = ""
    for attempt in range(1, attempts + 1):
        if attempt > 1:
            pause(_PAUSE_S * 2 ** (attempt - 2))
        try:
            status = within(timeout_s, attempted)
        except (requests.exceptions.RequestException, OSError, UnicodeError) as error:
            reason = f"does not answer ({type(error).__name__})"
            continue
        if 200 <= status < 300:
            return Posted(url=shown(url), delivered=True, attempts=attempt)
        reason = f"answers {status}"
        if 400 <= status < 500 and status not in {408, 429}:
            return Posted(url=shown(url), delivered=False, attempts=attempt, reason=reason)
    return Posted(url=shown(url), delivered=False, attempts=attempts, reason=reason)


def shown(url: str) -> str:
    """Return a URL without credentials and without a query, which often is one."""
    return one_line(without_credentials(url).partition("?")[0])[:200]
