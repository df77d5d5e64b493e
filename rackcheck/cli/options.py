"""Options that several commands share, with completion from the profiles, runs and probes on this machine."""

import math
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from rackcheck.model.fact import Plane
from rackcheck.session.limits import LONGEST_WAIT
from rackcheck.session.output import note
from rackcheck.transport.memory import DEFAULT, LEAST, MIB

F = TypeVar("F", bound=Callable[..., object])
OptionsT = TypeVar("OptionsT")


def collected(kind: type[OptionsT]) -> Callable[[Callable[[OptionsT], int]], Callable[..., int]]:
    """Return a decorator that passes a command all its options as one value of the class `kind`.

    The returned decorator must be the lowest decorator of the command.
    """

    def made(command: Callable[[OptionsT], int]) -> Callable[..., int]:
        @wraps(command)
        def called(**given: Any) -> int:
            return command(kind(**given))

        return called

    return made


def complete_profiles(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a profile's name; fragments come last."""
    from rackcheck.profile import library  # noqa: PLC0415  completion only

    found = [each for each in library.profiles().values() if each.name.startswith(incomplete)]
    return [CompletionItem(each.name) for each in sorted(found, key=library.seems_fragment)]


def complete_runs(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a run's id or an acceptance's name."""
    from rackcheck.run import store  # noqa: PLC0415
    from rackcheck.signoff import acceptance  # noqa: PLC0415

    known = ["last", *acceptance.names(), *reversed(store.ids())]
    return [CompletionItem(run) for run in known if run.startswith(incomplete)]


def _probes(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from rackcheck.probe.registry import registry  # noqa: PLC0415

    return [CompletionItem(p.name, help=p.help) for p in registry().probes if p.name.startswith(incomplete)]


def _noted(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """For a profile given by name, print which folders could not be searched."""
    if value is not None and "/" not in value:
        note_closed()
    return value


def note_closed() -> None:
    """Print which folders of profiles could not be searched."""
    from rackcheck.profile import library  # noqa: PLC0415  needed only if a profile is named

    for why in library.closed():
        note(f"rackcheck: {why}")


def complete_facts(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the path of a fact up to its first item key, because item keys differ between nodes."""
    from rackcheck.probe.registry import registry  # noqa: PLC0415

    bare = dict.fromkeys(pattern.partition("/*")[0] for pattern in registry().catalogue.entries)
    return [CompletionItem(path) for path in bare if path.startswith(incomplete)]


def complete_planes(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the planes' names."""
    return [CompletionItem(plane.value) for plane in Plane if plane.value.startswith(incomplete)]


def profile_option(*, required: bool = False) -> Callable[[F], F]:
    """Return a decorator that adds the option `-p NAME` to a command."""
    words = "Profile: a name (rackcheck profile list) or a file."
    return click.option(
        "-p", "--profile", metavar="NAME", required=required, shell_complete=complete_profiles, help=words,
        callback=_noted,
    )  # fmt: skip


def set_option(command: F) -> F:
    """Add the option `--set NAME=VALUE` to a command."""
    return click.option(
        "--set", "values", multiple=True, metavar="NAME=VALUE", help="Set a param of the profile to its site value."
    )(command)


def profile_path_option(command: F) -> F:
    """Add the option `--profile-path FOLDER` to a command."""
    kind = click.Path(exists=True, file_okay=False, path_type=Path)
    return click.option(
        "--profile-path",
        "folders",
        multiple=True,
        type=kind,
        help="Folder to search for profiles first (may be repeated).",
    )(command)


def inventory_option(command: F) -> F:
    """Add the option `-i FILE` to a command."""
    kind = click.Path(path_type=Path, dir_okay=False)
    return click.option(
        "-i",
        "--inventory",
        "file",
        metavar="FILE",
        type=kind,
        help="Inventory file (default: ./inventory.yaml, if it exists).",
    )(command)


def _racks(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from rackcheck.sim import scenario  # noqa: PLC0415

    return [CompletionItem(f"sim:{name}") for name in scenario.shipped() if f"sim:{name}".startswith(incomplete)]


def complete_racks(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a simulated rack's name, with or without `sim:` before it."""
    from rackcheck.sim import scenario  # noqa: PLC0415

    bare = [CompletionItem(name) for name in scenario.shipped() if name.startswith(incomplete)]
    return [*bare, *(_racks(ctx, param, incomplete) if incomplete.startswith("sim:") else ())]


def rack_option(command: F) -> F:
    """Add the option `--rack sim:NAME` to a command."""
    words = (
        "Use a simulated rack, over real SSH and HTTPS, instead of an inventory; rackcheck sim list shows the racks."
    )
    return click.option("--rack", metavar="sim:NAME", shell_complete=_racks, help=words)(command)


def waivers_option(command: F) -> F:
    """Add the option `--waivers FILE` to a command."""
    words = "File of waivers (may be repeated)."
    kind = click.Path(path_type=Path, dir_okay=False)
    return click.option("--waivers", "waiver_files", multiple=True, metavar="FILE", type=kind, help=words)(command)


def complete_acceptances(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of an acceptance."""
    from rackcheck.signoff import acceptance  # noqa: PLC0415  completion only

    return [CompletionItem(name) for name in acceptance.names() if name.startswith(incomplete)]


def accept_option(command: F) -> F:
    """Add the option `--accept NAME` to a command."""
    words = "Use the profile of an acceptance, and add the run to it."
    return click.option("--accept", metavar="NAME", shell_complete=complete_acceptances, help=words)(command)


def timeout_option(command: F) -> F:
    """Add the option `--timeout SECONDS` to a command."""
    words = "Time limit for one plane of one node, in seconds (default: 60 for the operating system, 180 for a BMC)."
    return click.option("--timeout", "seconds", type=Seconds(1, 3600), help=words)(command)


def deadline_option(command: F) -> F:
    """Add the option `--deadline SECONDS` to a command."""
    words = "Time limit for the whole run, in seconds; facts not collected by then are unknown (default: none)."
    return click.option("--deadline", type=Seconds(1, LONGEST_WAIT), help=words)(command)


def memory_option(command: F) -> F:
    """Add the option `--memory MIB` to a command; the command gets bytes."""
    words = (
        f"Memory for replies that are not judged yet, in MiB (default: {DEFAULT // MIB}, minimum: {LEAST // MIB}). "
        "Without room, large replies wait."
    )
    return click.option(
        "--memory", metavar="MIB", type=click.IntRange(LEAST // MIB, 1 << 20), default=DEFAULT // MIB, help=words,
        callback=lambda _context, _option, value: value * MIB,
    )(command)  # fmt: skip


class Seconds(click.FloatRange):
    """A time in seconds; rejects `nan`, which the base class accepts in every range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Convert to seconds; a value outside the range is a usage error that names the range."""
        found: float = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value} is not a time in seconds", param, ctx)
        return found


def again_option(command: F) -> F:
    """Add the option `--again SECONDS` to a command."""
    words = "Read twice, SECONDS apart. Rules with `steady` or `rate` are judged only with this option."
    return click.option("--again", metavar="SECONDS", type=Seconds(1, LONGEST_WAIT), help=words)(command)


def json_option(command: F) -> F:
    """Add the option `--json` to a command."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")(command)


def run_argument(command: F) -> F:
    """Add the argument RUN to a command."""
    return click.argument("run", shell_complete=complete_runs)(command)


def newest_run_argument(command: F) -> F:
    """Add the argument RUN to a command; its default is the newest run."""
    return click.argument("run", metavar="[RUN]", default="last", shell_complete=complete_runs)(command)


def probe_argument(command: F) -> F:
    """Add the argument PROBE to a command."""
    return click.argument("name", metavar="PROBE", shell_complete=_probes)(command)


def engine_option(*, required: bool = False) -> Callable[[F], F]:
    """Return a decorator that adds the option `--on ENGINE` to a command."""
    words = "Run shards on: local[:COUNT], slurm[:PARTITION], dask://HOST:PORT or dask+tls://HOST:PORT."
    return click.option(
        "--on", "engine", metavar="ENGINE", required=required, help=words,
        shell_complete=lambda _context, _option, typed: [
            word for word in ("local", "slurm", "dask://", "dask+tls://") if word.startswith(typed)
        ],
    )  # fmt: skip


def by_option(command: F) -> F:
    """Add the option `--by` to a command that divides an audit into shards."""
    from rackcheck.shard.dividing import WORDS  # noqa: PLC0415  few commands divide an audit

    return click.option(
        "--by", metavar="rack|bastion|node|COUNT", default=WORDS[0], show_default=True,
        shell_complete=lambda _context, _option, typed: [word for word in WORDS if word.startswith(typed)],
        help="A shard for each rack, for each jump host (ssh.jump), for each node (asked on itself), or so many.",
    )(command)  # fmt: skip


def resume_option(command: F) -> F:
    """Add the option `--resume RUN` to a command."""
    words = "Continue a run that was interrupted or cut off: only what is missing is asked."
    return click.option("--resume", metavar="RUN", shell_complete=complete_runs, help=words)(command)


def from_option(command: F) -> F:
    """Add the option `--from RUN` to a command."""
    words = "Read a stored run (id, folder or `last`) instead of nodes."
    return click.option("--from", "run", metavar="RUN", shell_complete=complete_runs, help=words)(command)
