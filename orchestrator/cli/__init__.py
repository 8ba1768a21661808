"""The command line: composes the stages, reads the environment, decides exit codes."""

from orchestrator.cli.main import main

__all__ = ["main"]
