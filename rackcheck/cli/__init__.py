"""The command line: commands are loaded when they are called, so that help is fast."""

import gc
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module

import click

from rackcheck import __version__

# name -> (module, attribute, one line of help); the line is repeated here so that `--help` loads no command.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "audit": ("audit", "audit", "Judge nodes against a profile; changes nothing on them."),
    "burnin": ("burnin", "burnin", "Put nodes under load, and judge what they do under it."),
    "doctor": ("doctor", "doctor", "Tell who answers, what to type, and what will be unknown."),
    "facts": ("facts", "facts", "Read everything one node tells, and show it."),
    "groups": ("groups", "groups_", "Show what fails alike on many nodes, with a hint at the cause."),
    "odd": ("odd", "odd_", "Show the nodes that say something else than most of their role."),
    "rack": ("rack", "rack", "Draw a run's racks, every node where it stands."),
    "capture": ("capture", "capture", "Keep everything that nodes answer, to be sent, tested and simulated."),
    "remedy": ("remedy", "remedy", "Write what would mend a run's findings, for review; applies nothing."),
    "profile": ("profile", "profile", "List, show, check, explain, compare and learn profiles."),
    "probe": ("probe", "probe", "List, show and try probes."),
    "inventory": ("inventory", "inventory", "Check, show and import inventories."),
    "report": ("report", "report", "Write the document of a run or an acceptance: HTML, PDF, JSON, JUnit, CSV."),
    "accept": ("accept", "accept", "Gather the runs of one sign-off: audit, rework, re-audit."),
    "waive": ("waive", "waive", "Answer for a finding until a day, in a file."),
    "sign": ("sign", "sign", "Sign a report's bundle with an SSH key."),
    "verify": ("verify", "verify", "Check a report's bundle and its signatures; asks no network."),
    "sim": ("sim", "sim", "Bring up a simulated rack; list and show those there are."),
    "runs": ("runs", "runs", "List and show stored runs; rebuild their index."),
    "history": ("history", "history", "Tell what changed on a node, or how a rule went, run by run."),
    "diff": ("diff", "diff", "Compare two runs, or two nodes of a run."),
    "drift": ("drift", "drift", "Tell what changed since a run that was signed off."),
    "tui": ("tui", "tui", "Open a stored run in the terminal's screens."),
    "completion": ("completion", "completion", "Print the shell's completion script."),
}


class _Lazy(click.Group):
    """Loads a command's module when it is called; lists them without loading."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command = getattr(import_module(f"rackcheck.cli.{module}"), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS:
            from rackcheck.profile.layers import did_you_mean  # noqa: PLC0415  errors only

            ctx.fail(f"no command {name}{did_you_mean(name, list(COMMANDS))}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in COMMANDS.items()])


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rackcheck", message="%(prog)s %(version)s")
def cli() -> None:
    """Compare every plane of every node of a GPU rack with a performance profile.

    \b
    rackcheck audit -p linux-server                   this machine
    rackcheck audit -p linux-server -i rack.yaml      every node of an inventory
    rackcheck audit 'dgx[01-04]' -p h100-dgx --json   some nodes, one document
    rackcheck tui last                                the newest run, on screens

    Exit: 0 pass, 1 fail, 2 your mistake, 3 something could not be known, 4 a file or a signature does not hold,
    70 a fault of rackcheck's own, 130 interrupted.
    """  # noqa: D301  \b is click's mark for lines that stay as they are


def main() -> None:
    """Run the command line; every mistake of our user ends in one clear line and exit 2."""
    if sys.stdout is None:  # closed by whoever started us (`>&-`): there is nowhere to answer
        with suppress(OSError):
            os.write(2, b"rackcheck: standard output is closed\n")
        sys.exit(2)
    from rackcheck.cli.interrupt import heed_ends  # noqa: PLC0415

    heed_ends()
    # Facts are many, small and in no circles: looking for circles cost a fifth of the time.
    gc.set_threshold(50_000, 20, 50)
    sys.exit(guarded(lambda: cli.main(prog_name="rackcheck", standalone_mode=False)))


def guarded(run: Callable[[], object]) -> int:
    """Run a command and give its exit status."""
    from rackcheck.base.user_error import UserError  # noqa: PLC0415
    from rackcheck.model.fact import visible  # noqa: PLC0415

    try:
        result = run()
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except UserError as error:
        # A mistake names files and quotes what they say, and a file may be anybody's.
        click.echo("\n".join(map(visible, f"rackcheck: {error}".split("\n"))), err=True)
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("rackcheck: interrupted", err=True)
        return 130
    except (BrokenPipeError, SystemExit):
        # Whoever read our output has gone (click turns that into an exit of 1, which would mean findings).
        _swallow_output()
        return 128 + signal.SIGPIPE
    except OSError as error:
        click.echo(f"rackcheck: {error.filename or 'output'}: {error.strerror}", err=True)
        _swallow_output()
        return 2
    except Exception as error:  # noqa: BLE001  the edge: a fault of ours must not end as 1, which means findings
        _own_fault(error)
        return os.EX_SOFTWARE
    return result if isinstance(result, int) else 0


def _own_fault(error: Exception) -> None:
    """Tell of an exception that nobody expected: where it happened, and last one line of what it was."""
    import traceback  # noqa: PLC0415  errors only

    from rackcheck.model.fact import clean, visible  # noqa: PLC0415

    for frame in "".join(traceback.format_tb(error.__traceback__, limit=-20)).splitlines():
        click.echo(visible(frame), err=True)
    message = clean(f"{type(error).__name__}: {error}")
    click.echo(f"rackcheck failed: {message}; please report it with the lines above", err=True)


def _swallow_output() -> None:
    """Let nothing more be written at the interpreter's end to an output that takes nothing."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
