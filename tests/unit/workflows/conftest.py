"""The whole program, for rules that are checked from outside too."""

from tests.unit.cli.conftest import command

__all__ = ["command"]
