"""`rackcheck completion`: the script that lets a shell complete commands, profiles, runs and probes."""

import click
from click.shell_completion import get_completion_class

from rackcheck.cli.choice import NearestChoice


@click.command(
    epilog='bash: eval "$(rackcheck completion bash)"   zsh: the same   fish: rackcheck completion fish | source'
)
@click.argument("shell", type=NearestChoice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell."""
    from rackcheck.cli import cli  # noqa: PLC0415  the group loads this module, not the other way round

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(cli, {}, "rackcheck", "_RACKCHECK_COMPLETE").source())
