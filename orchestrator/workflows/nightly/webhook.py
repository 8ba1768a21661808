"""The notification of a night's webhook."""

from collections.abc import Mapping
from pathlib import Path

from orchestrator.domain import BuildSettings
from orchestrator.encoded import json_text
from orchestrator.regression.nightly.notify import message, post, shown
from orchestrator.regression.nightly.settings import WebhookEntry
from orchestrator.regression.nightly.state import Night, Posted
from orchestrator.regression.releases.package_index import proxies_for


def notify(
    webhook: WebhookEntry, night: Night, page: Path, settings: BuildSettings, environment: Mapping[str, str]
) -> Posted:
    """Post a night. Without the key that the webhook names, nothing is posted."""
    key = environment.get(webhook.secret_variable, "") if webhook.secret_variable else ""
    if webhook.secret_variable and not key:
        return Posted(
            url=shown(webhook.url),
            delivered=False,
            attempts=0,
            reason=f"{webhook.secret_variable} is not set: nothing was posted unsigned",
        )
    return post(
        webhook.url,
        json_text(message(night, str(page))).encode(),
        key=key,
        timeout_s=webhook.timeout,
        attempts=webhook.attempts,
        proxies=proxies_for(webhook.url, settings),
        verify=settings.ca_bundle or True,
    )
