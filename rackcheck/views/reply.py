"""The reply of one file, command or BMC resource, cut to the lines about a fact; formats replies as text. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from rackcheck.model.fact import Plane


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """One line of a reply: its number from 1, its text, and whether it contains the fact's value or name."""

    number: int
    text: str
    hit: bool = False


@dataclass(frozen=True, slots=True)
class RawText:
    """The reply of one file, command or resource, cut to the lines about a fact.

    `of` is the number of lines of the full reply, and `trouble` the reason if there is no reply. `name` is the file,
    the command without its payload, or the URI with the position in the body after `#`. `status` is the exit status of
    a command. `more` is the number of further files or resources of the fact that are not shown.
    """

    name: str
    plane: Plane
    rows: tuple[NumberedLine, ...] = ()
    of: int = 0
    status: int | None = None
    trouble: str = ""
    more: int = 0

    @property
    def cut(self) -> int:
        """The number of lines of the reply that are not shown."""
        return self.of - len(self.rows)


def reply_lines(reply: RawText) -> Iterator[str]:
    """Format a reply as lines of text: the request, the reply, and the number of lines left out."""
    status = f"  (exit {reply.status})" if reply.status else ""
    head, *rest = reply.name.split("\n")
    yield f"{head}{f' … and {len(rest)} more lines' if rest else ''}{status}"
    if reply.trouble:
        yield f"  {reply.trouble}"
    for row in reply.rows:
        yield f"{'>' if row.hit else ' '} {row.number:>5}  {row.text}"
    if reply.cut:
        yield f"  {reply.cut} of {reply.of} lines are not shown"
    if reply.more:
        yield f"  {reply.more} more files or resources are not shown"


def document(reply: RawText) -> dict[str, object]:
    """Return a reply as a JSON document."""
    doc: dict[str, object] = {"name": reply.name, "plane": reply.plane.value, "lines": reply.of, "cut": reply.cut}
    doc |= {"status": reply.status} if reply.status is not None else {}
    doc |= {"trouble": reply.trouble} if reply.trouble else {}
    doc |= {"more": reply.more} if reply.more else {}
    return doc | {"rows": [{"line": row.number, "text": row.text, "hit": row.hit} for row in reply.rows]}
