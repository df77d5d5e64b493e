"""The command line; a command's module is loaded only when the command is called, so that help is fast."""

import gc
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

import click

from rackcheck import __version__
from rackcheck.base.cycles import search_rarely
from rackcheck.cli.missing import ARGS, all_missing

# name -> (module, attribute, one line of help); the help is repeated here so that `--help` loads no command.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "init": ("init", "init", "Write an inventory from a few answers, and go on to the first audit."),
    "audit": ("audit", "audit", "Check nodes against a profile; changes nothing on them."),
    "plan": ("plan", "plan", "Divide an audit into shards, to ask them on other machines."),
    "run-shard": ("run_shard", "run_shard", "Ask the nodes of one shard, and write their answers to a file."),
    "carry": ("carry", "carry", "Run the shards of a plan here, on Slurm or on Dask."),
    "merge": ("merge", "merge", "Judge the results of shards together, as one run."),
    "burnin": ("burnin", "burnin", "Put nodes under load, and check their results."),
    "doctor": ("doctor", "doctor", "Check access to nodes: what to fix, and what will be unknown."),
    "facts": ("facts", "facts", "Read and show the facts of one node."),
    "groups": ("groups", "groups_", "Show identical failures once for all their nodes, with a hint at the cause."),
    "odd": ("odd", "odd_", "Show nodes that differ from most nodes of their role."),
    "rack": ("rack", "rack", "Draw the racks of a run, with each node at its position."),
    "capture": ("capture", "capture", "Record all answers of nodes: for bug reports, tests, simulation."),
    "remedy": ("remedy", "remedy", "Write fixes for a run's findings, for review; applies nothing."),
    "profile": ("profile", "profile", "List, show, check, explain, compare and learn profiles."),
    "probe": ("probe", "probe", "List, show and run probes."),
    "inventory": ("inventory", "inventory", "Check, show, import and trust inventories."),
    "report": ("report", "report", "Write the report of a run or an acceptance: HTML, PDF, JSON, JUnit, CSV."),
    "accept": ("accept", "accept", "Collect the runs of one sign-off: audit, rework, re-audit."),
    "waive": ("waive", "waive", "Waive a finding until a date, in a file."),
    "sign": ("sign", "sign", "Sign a report bundle with an SSH key."),
    "verify": ("verify", "verify", "Verify a report bundle and its signatures; needs no network."),
    "sim": ("sim", "sim", "Start a simulated rack; list and show the available racks."),
    "runs": ("runs", "runs", "List and show stored runs; rebuild their index."),
    "history": ("history", "history", "Show changes of a node, or results of a rule, run by run."),
    "diff": ("diff", "diff", "Compare two runs, or two nodes of a run."),
    "drift": ("drift", "drift", "Show what changed since an earlier run or an acceptance."),
    "tui": ("tui", "tui", "Open a run in the TUI: a stored one, or a new audit."),
    "completion": ("completion", "completion", "Print the completion script of a shell."),
}


class _Lazy(click.Group):
    """A group of commands, which loads the module of a command when the command is called, not when it is listed."""

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
        ctx.meta[ARGS] = tuple(args[1:])
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
    """Check every plane of every node of a GPU rack against a performance profile.

    \b
    rackcheck audit -p linux-server                   this machine
    rackcheck audit -p linux-server -i rack.yaml      every node of an inventory
    rackcheck audit 'dgx[01-04]' -p h100-dgx --json   some nodes, one document
    rackcheck tui last                                the newest run in the TUI

    Exit: 0 pass, 1 fail, 2 usage error, 3 unknown, 4 a file or a signature is not valid, 70 internal error,
    74 pass but not stored, 130 interrupted.
    """  # noqa: D301  \b is click's mark for lines that stay as they are


def main() -> None:
    """Run the command line and exit with its status; a usage error prints one line and exits with 2."""
    if sys.stdout is None:  # closed by the parent process (`>&-`): there is no output to write to
        with suppress(OSError):
            os.write(2, b"rackcheck: standard output is closed\n")
        sys.exit(2)
    from rackcheck.cli.interrupt import heed_ends  # noqa: PLC0415

    heed_ends()
    search_rarely()
    leave(guarded(lambda: cli.main(prog_name="rackcheck", standalone_mode=False)))


def leave(status: int) -> NoReturn:
    """End the process with a status, without a last search for cycles in memory that is freed anyway.

    The search took up to a tenth of the CPU time of a command that reads many nodes.
    """
    gc.freeze()
    sys.exit(status)


def guarded(run: Callable[[], object]) -> int:
    """Run a command and return its exit status; prints errors to stderr and raises none."""
    from rackcheck.base.user_error import UserError  # noqa: PLC0415
    from rackcheck.model.fact import visible  # noqa: PLC0415

    try:
        result = run()
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.MissingParameter as error:
        all_missing(error).show()
        return 2
    except click.ClickException as error:
        error.show()
        return 2
    except UserError as error:
        # The message quotes file names and contents, which may come from an untrusted source.
        click.echo("\n".join(map(visible, f"rackcheck: {error}".split("\n"))), err=True)
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("rackcheck: interrupted", err=True)
        return 130
    except (BrokenPipeError, SystemExit):
        # The process that reads our output has closed the pipe (click would exit with 1, which would mean findings).
        _swallow_output()
        return 128 + signal.SIGPIPE
    except OSError as error:
        click.echo(f"rackcheck: {error.filename or 'output'}: {error.strerror}", err=True)
        _swallow_output()
        return 2
    except Exception as error:  # noqa: BLE001  the edge: an internal error must not end as 1, which means findings
        _own_fault(error)
        return os.EX_SOFTWARE
    return result if isinstance(result, int) else 0


def _own_fault(error: Exception) -> None:
    """Print an unexpected exception: its traceback, and one last line with its type and message."""
    import traceback  # noqa: PLC0415  errors only

    from rackcheck.model.fact import clean, visible  # noqa: PLC0415

    for frame in "".join(traceback.format_tb(error.__traceback__, limit=-20)).splitlines():
        click.echo(visible(frame), err=True)
    message = clean(f"{type(error).__name__}: {error}")
    click.echo(f"rackcheck failed: {message}; please report it with the lines above", err=True)


def _swallow_output() -> None:
    """Redirect stdout to /dev/null, so that the interpreter's last flush does not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
