"""The measuring of several sides in the same blocks, each time in a run of its own."""

from dataclasses import dataclass, replace

from orchestrator.catalog import load_faults
from orchestrator.images.registries.pushed_file import image_source
from orchestrator.regression.trials.joint import JointTrial, store_joint_trial
from orchestrator.regression.trials.joint_result import JointResult, carry_out_joint
from orchestrator.running import Policy
from orchestrator.workflows.host.host import Host
from orchestrator.workflows.measure.jobs import Job, Setting, begun
from orchestrator.workflows.measure.pair import MeasureOptions


@dataclass(frozen=True, slots=True)
class JointRun:
    """A run that measures a joint trial."""

    job: Job
    trial: JointTrial


def measure_joint(joint: JointRun, options: MeasureOptions, host: Host) -> JointResult | None:
    """Begin a run or go on with it, and measure its blocks. Return its result, or None if it was stopped.

    Raises `HostError` where this host cannot do it, and `InputError` for an image that neither the engine nor the file
    of images has.
    """
    source = image_source(options.images) if options.images is not None else None
    setting = Setting(
        options.idle_wait_s,
        keep=lambda run: store_joint_trial(run, joint.trial),
        exclusive=options.exclusive,
    )
    policy = Policy(joint.trial.seed, options.jobs, options.retries, extra_repeats=options.extra_repeats)
    with begun(replace(joint.job, images=source), setting, host) as surroundings:
        return carry_out_joint(joint.trial, surroundings, policy, load_faults())
