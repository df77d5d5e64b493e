"""A group of commands whose modules are imported when a command is called, or when the group's help is shown."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """A group that knows the module of `rackcheck.cli` and the attribute of each of its commands."""

    def __init__(self, *args: Any, members: Mapping[str, tuple[str, str]], **more: Any) -> None:
        super().__init__(*args, **more)
        self._members = members

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """Return the names of all commands, without importing them."""
        return sorted(self._members)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command; None if there is none of this name."""
        if cmd_name not in self._members:
            return None
        module, attribute = self._members[cmd_name]
        command = getattr(import_module(f"rackcheck.cli.{module}"), attribute)
        assert isinstance(command, click.Command)
        return command
