"""Draw the rooms of the house and their arrows, from the imports: `make rooms` writes the picture into architecture.md.

An arrow that follows from others is left out: where a room imports a second one and that imports a third, the first may
import the third as well.
"""

import re
import sys
from collections.abc import Iterator, Mapping

import grimp
from places import ROOT

PAGE = ROOT / "docs" / "design" / "architecture.md"
BEGIN = "<!-- drawn by `make rooms` from the imports, never by hand -->"
END = "<!-- end of what is drawn -->"

Rooms = Mapping[str, frozenset[str]]
"""The rooms that each room imports."""


def rooms() -> Rooms:
    """Read which room imports which; a distribution beside the package, or one of its loose modules, is a room."""
    graph = grimp.build_graph("rackcheck", "rackcheck_probes", "rackcheck_tui", cache_dir=None)
    found: dict[str, set[str]] = {}
    for module in graph.modules:
        one = room_of(module)
        others = {room_of(other) for other in graph.find_modules_directly_imported_by(module)}
        found.setdefault(one, set()).update(others - {one})
    return {one: frozenset(others) for one, others in found.items()}


def room_of(module: str) -> str:
    """Give the room of a module: the folder below the package, else the name of the other package."""
    package, *inner = module.split(".")
    return package if package != "rackcheck" or not inner else inner[0]


def circles(found: Rooms) -> Iterator[tuple[str, str]]:
    """Give the rooms that import each other, also by way of others."""
    reached = {one: reach(found, one) for one in found}
    yield from ((a, b) for a in sorted(found) for b in sorted(reached[a]) if a < b and a in reached[b])


def reach(found: Rooms, start: str) -> set[str]:
    """Give every room that one imports, also by way of others."""
    known, left = set[str](), [start]
    while left:
        for other in found[left.pop()] - known:
            known.add(other)
            left.append(other)
    return known


def picture(found: Rooms) -> str:
    """Draw the rooms as a Mermaid flow chart; the facade and the entry point, which import all, are left out."""
    shown = {one: others - OUTSIDE for one, others in found.items() if one not in OUTSIDE}
    rows = ["```mermaid", "flowchart TD"]
    for one in sorted(shown):
        needless = {far for near in shown[one] for far in reach(shown, near)}
        rows += [f"    {one} --> {other}" for other in sorted(shown[one] - needless)]
    return "\n".join([BEGIN, *rows, "```", END])


OUTSIDE = frozenset({"rackcheck", "__main__", "core"})
"""What is no room: the names for authors of probes, and the entry point."""


def drawn(page: str, found: Rooms) -> str:
    """Give the page with the picture as it is now."""
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: picture(found), page, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text("utf-8"), rooms()), "utf-8")
    sys.exit(0)
