"""The orchestrator, which asks the scheduler twice a second in place of every ten seconds."""

from orchestrator.cli import main
from orchestrator.workflows.cluster import follow

follow.POLL_S = follow.LONGEST_POLL_S = 0.5

if __name__ == "__main__":
    main()
