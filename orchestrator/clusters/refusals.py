"""The refusals of a scheduler, as kinds, and the words of it that a person should read."""

import re
from enum import StrEnum

from orchestrator.processes import last_line


class Refusal(StrEnum):
    """The reason that a scheduler did not take a job."""

    LIMIT = "limit"
    """A bound on the jobs of a user. It is waited out, or the array is halved."""
    AWAY = "away"
    """The controller does not answer. It may have taken the job all the same."""
    NEVER = "never"
    """The job can never be taken as it is."""


_CAUSE = re.compile(r"\b(?:QOS|Assoc)[A-Z]\w+")
"""The name of a limit. `sbatch` prints it on a line before the one that says that a policy is violated."""
_OF_SUBMITTED_JOBS = re.compile(r"(?:Max|Grp)Submit")
"""In the name of a limit on the number of jobs. All others are on what one job asks for."""
_LIMITS = re.compile(
    r"MaxSubmitJob|violates accounting/QOS policy|Job limit exceeded|MaxJobCount|job array index|Invalid job array"
    r"|Resource temporarily unavailable|temporarily unable to accept job",
    re.IGNORECASE,
)
_AWAY = re.compile(
    r"Unable to contact slurm controller|Socket timed out|Zero Bytes were transmitted|Connection refused"
    r"|Transport endpoint|slurmctld|Slurm backup controller|Communication connection failure|no answer within",
    re.IGNORECASE,
)
_NO_LONGER_LIVE = re.compile(r"Invalid job id|already complet", re.IGNORECASE)


def refusal(message: str) -> Refusal:
    """Classify what `sbatch` said about a job that it did not submit."""
    if cause := _CAUSE.search(message):
        return Refusal.LIMIT if _OF_SUBMITTED_JOBS.search(cause[0]) else Refusal.NEVER
    if _LIMITS.search(message):
        return Refusal.LIMIT
    return Refusal.AWAY if _AWAY.search(message) else Refusal.NEVER


def said(message: str) -> str:
    """Return the last line of a message, after the name of the limit if another line has one."""
    line, cause = last_line(message), _CAUSE.search(message)
    return f"{cause[0]}: {line}" if cause and cause[0] not in line else line


def has_no_accounting(message: str) -> bool:
    """Return true if `sacct` said that the cluster keeps no accounts, or that there is no such program."""
    return bool(re.search(r"accounting storage is disabled|no such program|accounting_storage/none", message))


def not_cancelled(message: str) -> str:
    """Return the last line of `scancel` that is not about a job which has ended, or an empty text."""
    return last_line("\n".join(line for line in message.splitlines() if not _NO_LONGER_LIVE.search(line)))
