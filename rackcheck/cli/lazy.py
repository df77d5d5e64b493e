"""Groups of commands: with the nearest command in an error, and with modules that are imported when they are used."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class NearestGroup(click.Group):
    """A group whose error names the nearest command to an unknown one, or all commands if none is similar."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first word names, and the other words; ends with a usage error if it is none."""
        name, known = args[0] if args else "", self.list_commands(ctx)
        if name and not name.startswith("-") and name not in known:
            from rackcheck.profile.layers import did_you_mean  # noqa: PLC0415  errors only

            near = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            ctx.fail(f"no command {' '.join(filter(None, (ctx.info_name, name)))}{near}")
        return super().resolve_command(ctx, args)


class LazyGroup(NearestGroup):
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
