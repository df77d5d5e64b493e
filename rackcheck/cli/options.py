"""Options that several commands share, with completion of what this machine knows."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from rackcheck import inventory, waivers
from rackcheck.cli.output import note
from rackcheck.core.fact import Plane
from rackcheck.core.fold import fold
from rackcheck.inventory import Node, Rack
from rackcheck.inventory.targets import found as found_inventory
from rackcheck.inventory.targets import narrowed
from rackcheck.mistake import Mistake

F = TypeVar("F", bound=Callable[..., object])

PLANES = frozenset({Plane.OS, Plane.BMC})
"""The planes that are asked unless somebody narrows them."""


def complete_profiles(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a profile's name; what is there to be included comes last."""
    from rackcheck import library  # noqa: PLC0415  completion only

    found = [each for each in library.profiles().values() if each.name.startswith(incomplete)]
    return [CompletionItem(each.name) for each in sorted(found, key=library.seems_fragment)]


def complete_runs(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a run's id or an acceptance's name."""
    from rackcheck import acceptance, store  # noqa: PLC0415

    known = ["last", *acceptance.names(), *reversed(store.ids())]
    return [CompletionItem(run) for run in known if run.startswith(incomplete)]


def _probes(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from rackcheck.registry import registry  # noqa: PLC0415

    return [CompletionItem(p.name, help=p.help) for p in registry().probes if p.name.startswith(incomplete)]


def _noted(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Say of a profile that is looked for by its name where it could not be looked for."""
    if value is not None and "/" not in value:
        note_closed()
    return value


def note_closed() -> None:
    """Say which folders of profiles could not be looked into."""
    from rackcheck import library  # noqa: PLC0415  only where a profile is named

    for why in library.closed():
        note(f"rackcheck: {why}")


def complete_facts(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the path of a fact, without the names of things that only a node knows."""
    from rackcheck.registry import registry  # noqa: PLC0415

    bare = dict.fromkeys(pattern.partition("/*")[0] for pattern in registry().catalogue.entries)
    return [CompletionItem(path) for path in bare if path.startswith(incomplete)]


def complete_planes(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the planes' names."""
    return [CompletionItem(plane.value) for plane in Plane if plane.value.startswith(incomplete)]


def profile_option(*, required: bool = False) -> Callable[[F], F]:
    """`-p NAME`."""
    words = "Profile to judge by: a name (rackcheck profile list) or a file."
    return click.option(
        "-p", "--profile", metavar="NAME", required=required, shell_complete=complete_profiles, help=words,
        callback=_noted,
    )  # fmt: skip


def set_option(command: F) -> F:
    """`--set NAME=VALUE`."""
    return click.option(
        "--set", "values", multiple=True, metavar="NAME=VALUE", help="Give a param of the profile its site value."
    )(command)


def profile_path_option(command: F) -> F:
    """`--profile-path FOLDER`."""
    kind = click.Path(exists=True, file_okay=False, path_type=Path)
    return click.option("--profile-path", "folders", multiple=True, type=kind, help="Look for profiles here first.")(
        command
    )


def inventory_option(command: F) -> F:
    """`-i FILE`."""
    kind = click.Path(path_type=Path, dir_okay=False)
    return click.option(
        "-i",
        "--inventory",
        "file",
        metavar="FILE",
        type=kind,
        help="Inventory file; ./inventory.yaml is found by itself.",
    )(command)


def _racks(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from rackcheck.sim import scenario  # noqa: PLC0415

    return [CompletionItem(f"sim:{name}") for name in scenario.shipped() if f"sim:{name}".startswith(incomplete)]


def complete_racks(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a simulated rack's name, with `sim:` before it or without."""
    from rackcheck.sim import scenario  # noqa: PLC0415

    bare = [CompletionItem(name) for name in scenario.shipped() if name.startswith(incomplete)]
    return [*bare, *(_racks(ctx, param, incomplete) if incomplete.startswith("sim:") else ())]


def rack_option(command: F) -> F:
    """`--rack sim:NAME`."""
    words = (
        "Ask a simulated rack over real SSH and HTTPS instead of an inventory's nodes; rackcheck sim list shows them."
    )
    return click.option("--rack", metavar="sim:NAME", shell_complete=_racks, help=words)(command)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The nodes a command is for, where they come from in words, all nodes and racks that their inventory holds."""

    nodes: tuple[Node, ...]
    words: str
    expected: tuple[Node, ...]
    racks: Mapping[str, Rack] = field(default_factory=dict)


def chosen(targets: Iterable[str], file: Path | None, rack: str | None) -> Chosen:
    """Resolve what our user typed; a simulated rack is up until the command ends."""
    given = place(file, rack)
    if rack is None or given is None:
        nodes, words = inventory.choose(targets, given)
        held = found_inventory(given)
        if held is None:
            return Chosen(nodes, words, nodes)
        whole = inventory.load(held)
        return Chosen(nodes, words, tuple(whole.nodes.values()), whole.racks)
    # Said with the rack's own name: its inventory lies in a folder that is gone when our user reads this.
    up = replace(inventory.load(given), origin=rack)
    wanted = tuple(targets)
    if wanted == (inventory.LOCAL,) and inventory.LOCAL not in up.nodes:
        raise Mistake(f"which node of {rack}? it has {fold(up.nodes)}")
    nodes = narrowed(wanted, up)
    words = f"{len(nodes)} of {len(up.nodes)} nodes of {rack}" if wanted else f"all {len(nodes)} nodes of {rack}"
    return Chosen(nodes, words, tuple(up.nodes.values()), up.racks)


def choose(targets: Iterable[str], file: Path | None, rack: str | None) -> tuple[tuple[Node, ...], str]:
    """Give the nodes a command is for, and where they come from."""
    found = chosen(targets, file, rack)
    return found.nodes, found.words


def place(file: Path | None, rack: str | None) -> Path | None:
    """Give the inventory file that is meant: of a simulated rack, which is up until the command ends, or our user's."""
    if rack is None:
        return file
    name = rack_name(rack, file)
    from rackcheck.sim.child import running  # noqa: PLC0415  only those who ask for a rack pay for one

    return click.get_current_context().with_resource(running(name))


def rack_name(rack: str, file: Path | None = None) -> str:
    """Give what stands after `sim:`; raises a usage error on anything else."""
    if file is not None:
        raise click.UsageError("--rack brings its own inventory: leave -i away")
    kind, mark, name = rack.partition(":")
    if kind != "sim" or not mark or not name:
        raise click.UsageError(f"--rack wants sim:NAME, not {rack!r}; rackcheck sim list shows them")
    return name


def waivers_option(command: F) -> F:
    """`--waivers FILE`."""
    words = "File of waivers (several: repeat it)."
    kind = click.Path(path_type=Path, dir_okay=False)
    return click.option("--waivers", "waiver_files", multiple=True, metavar="FILE", type=kind, help=words)(command)


def waiver_files(given: tuple[Path, ...], *, found: bool) -> tuple["waivers.File", ...]:
    """Read files of waivers, and `./waivers.yaml` where none is given and it may be `found`."""
    here = Path(waivers.FOUND)
    paths = given or ((here,) if found and here.is_file() else ())
    files = [waivers.load(path) for path in paths]
    twice = [file.name for file in files if [f.name for f in files].count(file.name) > 1]
    if twice:
        raise Mistake(f"two files of waivers are called {twice[0]}; a run keeps each by its name")
    return tuple(files)


def _acceptances(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from rackcheck import acceptance  # noqa: PLC0415  completion only

    return [CompletionItem(name) for name in acceptance.names() if name.startswith(incomplete)]


def accept_option(command: F) -> F:
    """`--accept NAME`."""
    words = "Judge by an acceptance's profile, and add the run to it."
    return click.option("--accept", metavar="NAME", shell_complete=_acceptances, help=words)(command)


def timeout_option(command: F) -> F:
    """`--timeout SECONDS`."""
    words = "Seconds for one plane of one node (default: 60 for the operating system, 180 for a BMC)."
    return click.option("--timeout", "seconds", type=Seconds(1, 3600), help=words)(command)


def deadline_option(command: F) -> F:
    """`--deadline SECONDS`."""
    words = "Seconds for the whole run; what nobody told by then is unknown (default: none)."
    return click.option("--deadline", type=Seconds(1, LONGEST_WAIT), help=words)(command)


LONGEST_WAIT = 86_400
"""Seconds between two readings, and of a whole run, at most."""


class Seconds(click.FloatRange):
    """A time in seconds; `nan` is in no range, and in every one for the base class."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read it; fails with the range."""
        found: float = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value} is no time", param, ctx)
        return found


def again_option(command: F) -> F:
    """`--again SECONDS`."""
    words = "Read twice, so many seconds apart, for rules with `steady` and `rate`; without it they are not judged."
    return click.option("--again", metavar="SECONDS", type=Seconds(1, LONGEST_WAIT), help=words)(command)


def json_option(command: F) -> F:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")(command)


def run_argument(command: F) -> F:
    """The RUN argument."""
    return click.argument("run", shell_complete=complete_runs)(command)


def newest_run_argument(command: F) -> F:
    """The RUN argument where the newest run will do."""
    return click.argument("run", metavar="[RUN]", default="last", shell_complete=complete_runs)(command)


def probe_argument(command: F) -> F:
    """The PROBE argument."""
    return click.argument("name", metavar="PROBE", shell_complete=_probes)(command)


def from_option(command: F) -> F:
    """`--from RUN`."""
    words = "Read a stored run (id, folder or `last`) instead of asking anyone."
    return click.option("--from", "run", metavar="RUN", shell_complete=complete_runs, help=words)(command)


def planes(text: str | None) -> frozenset[Plane]:
    """Read `os,bmc`; without it both planes. Raises a usage error on anything else."""
    if text is None:
        return PLANES
    known = {plane.value: plane for plane in PLANES}
    words = [word.strip() for word in text.split(",")]
    wrong = [word for word in words if word not in known]
    if wrong:
        raise click.UsageError(f"no plane {wrong[0]!r}; there are {', '.join(sorted(known, reverse=True))}")
    return frozenset(known[word] for word in words)


def pairs(values: tuple[str, ...]) -> dict[str, str]:
    """Read NAME=VALUE pairs; raises a usage error on anything else."""
    for value in values:
        if "=" not in value or value.startswith("=") or not value.partition("=")[2].strip():
            raise click.UsageError(f"--set wants NAME=VALUE, not {value!r}")
    return {name: value for name, _, value in (v.partition("=") for v in values)}
