"""`nightly`: what is new on the package index, measured against the baseline; and `nightly accept`."""

import secrets
from pathlib import Path
from typing import Annotated

import typer
from packaging.version import InvalidVersion, Version

from orchestrator.cli.measure.options import IdleWait
from orchestrator.cli.options import BaseImage, DataFolder, Json, ModelsFolder
from orchestrator.cli.output import speech
from orchestrator.cli.output.hosts import this_host
from orchestrator.errors import InputError
from orchestrator.regression.history.acknowledged import load_acknowledged
from orchestrator.regression.metrics import parse_gates
from orchestrator.regression.nightly.decide import baseline, dropped_images
from orchestrator.regression.nightly.files import NightFiles
from orchestrator.regression.nightly.lasting_changes import new_changes
from orchestrator.regression.nightly.loading import Nightly, load
from orchestrator.regression.nightly.night import NightInProgress, NightServices
from orchestrator.regression.nightly.settings import ACCEPTED
from orchestrator.regression.nightly.state import Night
from orchestrator.regression.releases.package_index import offered_releases
from orchestrator.reporting.reports.night_words import lines
from orchestrator.running import new_run_name
from orchestrator.workflows.host.shipped import shipped_catalog
from orchestrator.workflows.inputs.site import site_settings
from orchestrator.workflows.measure import pairs
from orchestrator.workflows.nightly import services as nights
from orchestrator.workflows.nightly.services import Budget
from orchestrator.workflows.nightly.trials import Measurable, Trials

DEFAULT_FILE = Path("nightly.yaml")
NightlyFile = Annotated[Path, typer.Option("-f", "--file", help="What is watched: nightly.yaml by default.")]


def register(app: typer.Typer) -> None:
    """Add the command with what is below it."""
    group = typer.Typer(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
    group.callback()(nightly)
    group.command("accept")(accept)
    app.add_typer(group, name="nightly")


def nightly(
    context: typer.Context,
    file: NightlyFile = DEFAULT_FILE,
    base_image: BaseImage = None,
    models: ModelsFolder = None,
    data: DataFolder = None,
    idle_wait: IdleWait = 10.0,
    json: Json = False,
) -> None:
    """Measure what is new on the package index against the baseline: exit 1 with a regression that is new."""
    if context.invoked_subcommand is not None:
        return
    host = this_host(json=json)
    found = load(file, shipped_catalog())
    known = load_acknowledged(found.acknowledged)
    site = pairs.Site(host, base_image, models, data)
    measured, catalog = pairs.loaded(found.matrix, site)
    names = [model.name for model in measured.models]
    gates = parse_gates(found.asked.metrics or (), f"{found.path}: metrics", names)
    settings = site_settings(measured.build, base_image, host.environment)
    measurable = Measurable(found, measured, catalog, site)
    files = NightFiles(found.reports)
    with files.held(), host.working():
        budget = Budget(host.stop)
        trials = Trials(measurable, gates, idle_wait)
        asked_of = nights.index_settings(found, catalog, settings)
        means = NightServices(
            offered=lambda: offered_releases(found.distribution, asked_of, found.asked.index_timeout),
            measure=trials.measure,
            refused=measurable.refused,
            check_listed=measurable.check_listed,
            now=nights.now,
            is_over=host.stop.is_set,
            is_interrupted=lambda: budget.is_interrupted,
            listener=host.listener,
            host=nights.hostname(),
            new_name=new_run_name(nights.now(), secrets.token_hex(2), [night.night for night in files.nights()]),
        )
        holding = NightInProgress(found, files, means, known)
        measurable.check(baseline(found.asked, holding.state))
        with budget.running(found.asked.budget):
            night = nights.with_pages(files, found, holding.hold())
        removed = nights.drop_images(dropped_images(found.asked, holding.state), host)
        history = nights.history(found, known, host)
        changes = new_changes(history.tracked, {gate.metric for gate in gates}, holding.state.changes)
        night = night.model_copy(update={"removed_images": removed, "changes": changes})
        page = nights.report(files, night)
        night = night.model_copy(update={"posted": nights.tell(found, night, page, settings, host)})
        nights.report(files, night)
        holding.end(night)
        nights.list_nights(files, history)
    _say(night, page, json=json)
    if night.exit_code:
        raise typer.Exit(night.exit_code)


def _say(night: Night, page: Path, *, json: bool) -> None:
    if json:
        speech.print_json(night.model_dump(mode="json", by_alias=True))
        return
    if night.posted is not None and not night.posted.delivered:
        speech.say(f"warning: the webhook was not delivered: {night.posted.reason}")
    console = speech.output()
    for line in lines(night):
        speech.tell(console, line)
    speech.tell(console, f"page: {page}")


def accept(
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="Such as mxnet==1.9.1.")],
    file: NightlyFile = DEFAULT_FILE,
    models: ModelsFolder = None,
    json: Json = False,
) -> None:
    """Take a release as the baseline of the nights to come, whatever was found of it."""
    found = load(file, shipped_catalog())
    version = _version(release, found)
    site = pairs.Site(this_host(json=json), models=models)
    if unknown := Measurable(found, *pairs.loaded(found.matrix, site), site).unknown(version):
        raise InputError(f"{release!r}: {unknown}")
    files = NightFiles(found.reports)
    with files.held():
        state = files.state(found.watched)
        files.write_state(state.model_copy(update={"accepted": version, "accepted_by": "hand"}))
    if json:
        speech.print_json({"watched": found.watched, "accepted": version, "before": state.accepted or None})
    else:
        before = f", in place of {state.accepted}" if state.accepted else ""
        speech.say(f"{found.name} {version} is the baseline of the nights to come{before}")


def _version(release: str, found: Nightly) -> str:
    if found.asked.baseline != ACCEPTED:
        raise InputError(
            f"{found.path}: baseline: is the pin {found.asked.baseline}; write `baseline: accepted` to accept releases"
        )
    name, mark, version = (part.strip() for part in release.rpartition("=="))
    if mark and name != found.name:
        raise InputError(f"{release!r}: {found.path} watches {found.name!r}; write {found.name}=={version}")
    try:
        return str(Version(version))
    except InvalidVersion:
        raise InputError(f"{release!r} is no release such as {found.name}==1.9.1") from None
