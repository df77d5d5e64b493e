"""Resolves arguments that several commands have: nodes, planes, waiver files, and site values."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import click

from rackcheck import inventory
from rackcheck.base.user_error import UserError
from rackcheck.inventory import Node, Rack
from rackcheck.inventory.targets import described, narrowed
from rackcheck.inventory.targets import found as found_inventory
from rackcheck.model.fact import Plane, clean, visible
from rackcheck.model.fold import fold
from rackcheck.session.output import note
from rackcheck.signoff import waivers

PLANES = frozenset({Plane.OS, Plane.BMC})
"""The planes that are read by default."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The nodes of a command, a description of their origin, and all nodes, racks, PDUs and limits of the inventory."""

    nodes: tuple[Node, ...]
    words: str
    expected: tuple[Node, ...]
    racks: Mapping[str, Rack] = field(default_factory=dict)
    pdus: Mapping[str, int] = field(default_factory=dict)
    limits: tuple[inventory.AskLimit, ...] = ()


def chosen(targets: Iterable[str], file: Path | None, rack: str | None) -> Chosen:
    """Return the nodes of a command's arguments; a simulated rack is started, and runs until the command ends."""
    given = place(file, rack)
    if rack is None or given is None:
        held = found_inventory(given)
        if held is None:
            nodes, words = inventory.choose(targets, given)
            _note_addresses([node.name for node in nodes])
            return Chosen(nodes, words, nodes)
        whole = inventory.load(held)  # once: a large inventory takes seconds, and may be written meanwhile
        nodes, words = described(targets, whole)
        return Chosen(nodes, words, tuple(whole.nodes.values()), whole.racks, whole.pdus, whole.limits)
    # Messages show the rack's name, since its inventory is in a folder that is removed before the user reads them.
    up = replace(inventory.load(given), origin=rack)
    wanted = tuple(targets)
    if wanted == (inventory.LOCAL,) and inventory.LOCAL not in up.nodes:
        raise UserError(f"which node of {rack}? it has {fold(up.nodes)}")
    nodes = narrowed(wanted, up)
    words = f"{len(nodes)} of {len(up.nodes)} nodes of {rack}" if wanted else f"all {len(nodes)} nodes of {rack}"
    return Chosen(nodes, words, tuple(up.nodes.values()), up.racks, up.pdus, up.limits)


def _note_addresses(names: Iterable[str]) -> None:
    """Print once in a command which names are used as addresses, because there is no inventory.

    This machine, and a name that has a dot or a colon, which is an address anyway, are left out.
    """
    context = click.get_current_context(silent=True)
    bare = [name for name in names if name != inventory.LOCAL and not {".", ":"} & set(name)]
    if context is None or not bare or context.meta.setdefault(f"{__name__}.addresses", bare) is not bare:
        return
    use = "is used as an address" if len(bare) == 1 else "are used as addresses"
    note(f"rackcheck: no inventory (no ./inventory.yaml, and no -i FILE): {clean(fold(bare), 200)} {use}")


def choose(targets: Iterable[str], file: Path | None, rack: str | None) -> tuple[tuple[Node, ...], str]:
    """Return the nodes of a command, and a description of their origin."""
    found = chosen(targets, file, rack)
    return found.nodes, found.words


def place(file: Path | None, rack: str | None) -> Path | None:
    """Return the inventory file that the user named, or that of a simulated rack, which a command starts once."""
    if rack is None:
        return file
    name = rack_name(rack, file)
    from rackcheck.sim.child import running  # noqa: PLC0415  needed only for a simulated rack

    context = click.get_current_context()
    started: dict[str, Path] = context.meta.setdefault(__name__, {})
    if name not in started:
        started[name] = context.with_resource(running(name))
    return started[name]


def rack_name(rack: str, file: Path | None = None) -> str:
    """Return the name in `sim:NAME`; raises a usage error for any other text."""
    if file is not None:
        raise click.UsageError("--rack has its own inventory: remove -i")
    kind, mark, name = rack.partition(":")
    if kind != "sim" or not mark or not name:
        near = f"for the path write sim:{rack}" if Path(rack).exists() else "rackcheck sim list shows the names"
        raise click.UsageError(f"--rack must be sim:NAME or sim:PATH, not {rack!r}; {near}")
    return name


def waiver_files(given: tuple[Path, ...], *, found: bool) -> tuple["waivers.File", ...]:
    """Read waiver files; if no file is given and `found` is true, read `./waivers.yaml` if it exists."""
    here = Path(waivers.FOUND)
    paths = given or ((here,) if found and here.is_file() else ())
    files = [waivers.load(path) for path in paths]
    twice = [file.name for file in files if [f.name for f in files].count(file.name) > 1]
    if twice:
        raise UserError(f"two waiver files have the name {twice[0]}; rename one, because a run stores files by name")
    return tuple(files)


def planes(text: str | None) -> frozenset[Plane]:
    """Parse planes like `os,bmc` (default: both); raises a usage error for any other text."""
    if text is None:
        return PLANES
    known = {plane.value: plane for plane in PLANES}
    words = [word.strip() for word in text.split(",")]
    wrong = [word for word in words if word not in known]
    if wrong:
        raise click.UsageError(f"no plane {wrong[0]!r}; there are {', '.join(sorted(known, reverse=True))}")
    return frozenset(known[word] for word in words)


def pairs(values: tuple[str, ...]) -> dict[str, str]:
    """Parse NAME=VALUE pairs; raises a usage error for any other text."""
    for value in values:
        if "=" not in value or value.startswith("=") or not value.partition("=")[2].strip():
            raise click.UsageError(f"--set must be NAME=VALUE, not {value!r}")
    return {name: value for name, _, value in (v.partition("=") for v in values)}


def one_line(option: str, words: str) -> None:
    """Raise UserError if a text has characters that a document cannot print, such as line breaks or invalid bytes."""
    wrong = next((c for c in words if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"}), None)
    if wrong is not None:
        what = "a line break" if wrong in "\n\r\v\f\x85\u2028\u2029" else f"the control character {visible(wrong)}"
        raise UserError(f"--{option} '{clean(words, 40)}' contains {what}; use one line of plain text")
