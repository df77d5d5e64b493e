"""Draw the rooms of the package and their imports as arrows: `make rooms` writes the picture into architecture.md.

An arrow that others imply is left out: where a room imports a second one and that imports a third, the first may
import the third as well.
"""

import re
import sys
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

import grimp
from places import ROOT

PAGE = ROOT / "docs" / "design" / "architecture.md"
BEGIN = "<!-- drawn by `make rooms` from the imports, never by hand -->"
END = "<!-- end of what is drawn -->"

Rooms = Mapping[str, frozenset[str]]
"""The rooms that each room imports."""


def rooms() -> Rooms:
    """Return the imports between rooms; a distribution beside the package, or one of its loose modules, is a room."""
    graph = _graph()
    found: dict[str, set[str]] = {}
    for module in graph.modules:
        one = room_of(module)
        others = {room_of(other) for other in graph.find_modules_directly_imported_by(module)}
        found.setdefault(one, set()).update(others - {one})
    return {one: frozenset(others) for one, others in found.items()}


def _graph() -> grimp.ImportGraph:
    return grimp.build_graph("rackcheck", "rackcheck_probes", "rackcheck_tui", cache_dir=None)


def room_of(module: str) -> str:
    """Return the room of a module: the folder below the package, else the name of the other package."""
    package, *inner = module.split(".")
    return package if package != "rackcheck" or not inner else inner[0]


def modules() -> Rooms:
    """Return the imports between modules; those that run on a node are one text, and share a namespace."""
    graph = _graph()
    own = [module for module in graph.modules if not module.startswith("rackcheck.burnin.node.")]
    return {module: frozenset(graph.find_modules_directly_imported_by(module)) for module in own}


def circle(found: Rooms) -> list[str]:
    """Return a cycle of rooms or modules, where each imports the one before it; empty where there is none."""
    try:
        TopologicalSorter(found).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def reach(found: Rooms, start: str) -> set[str]:
    """Return every room that one imports, directly or through others."""
    known, left = set[str](), [start]
    while left:
        for other in found[left.pop()] - known:
            known.add(other)
            left.append(other)
    return known


def picture(found: Rooms) -> str:
    """Draw the rooms as a Mermaid flow chart, without the facade and the entry point, which import all."""
    shown = {one: others - OUTSIDE for one, others in found.items() if one not in OUTSIDE}
    rows = ["```mermaid", "flowchart TD"]
    for one in sorted(shown):
        needless = {far for near in shown[one] for far in reach(shown, near)}
        rows += [f"    {one} --> {other}" for other in sorted(shown[one] - needless)]
    return "\n".join([BEGIN, *rows, "```", END])


OUTSIDE = frozenset({"rackcheck", "__main__", "core"})
"""Modules that are no room: the names for authors of probes, and the entry point."""


def drawn(page: str, found: Rooms) -> str:
    """Return the page with the current picture."""
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: picture(found), page, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text("utf-8"), rooms()), "utf-8")
    sys.exit(0)
