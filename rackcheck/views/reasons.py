"""Formats the reasons why nodes are INCOMPLETE: one line for each reason, with all its nodes. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from rackcheck.evaluate.law import ENDS
from rackcheck.evaluate.verdict import Outcome
from rackcheck.model.fact import clean
from rackcheck.model.fold import fold, similar
from rackcheck.probe.group import is_group
from rackcheck.views import locations
from rackcheck.views.locations import Whole

Reasons = tuple[tuple[str, tuple[str, ...]], ...]
"""Reasons for INCOMPLETE, the most frequent first; each has the names of its nodes, its racks or the fleet."""

MOST = 5
"""Maximum number of reasons in one list; the others are counted."""

LONGEST = 400
"""Maximum number of characters of a reason in a line; JSON documents contain the full text."""

NEVER_READ = "not read by any run; rackcheck audit NODE (for an acceptance, add --accept NAME)"
"""The reason for a node that was expected in a run but was not judged."""

NO_NODE = "no node was judged; name the nodes to be read: rackcheck audit NODE"
"""The reason for a run without any node."""


def gathered(rows: Iterable[tuple[str, Outcome, str]]) -> Reasons:
    """Group the names of INCOMPLETE nodes by reason, the most frequent reason first.

    Reasons with equal counts keep their order. Reasons that differ only in addresses, and the like, are merged.
    """
    found: dict[str, list[str]] = {}
    for name, outcome, reason in rows:
        if outcome is Outcome.INCOMPLETE and reason:
            found.setdefault(reason, []).append(name)
    return tuple(sorted(similar(found).items(), key=lambda one: -len(one[1])))


def lines(reasons: Reasons, of: Whole, most: int = MOST) -> Iterator[tuple[str, str]]:
    """Yield a pair of nodes and reason for at most `most` reasons, then the number of further reasons.

    If the run has only one node and one reason, the text for the nodes is empty.
    """
    shown = reasons[:most]
    for number, (reason, names) in enumerate(shown, start=1):
        end = next((end for end in ENDS if reason.endswith(end)), "")
        text = reason.removesuffix(end) if any(later.endswith(end) for later, _ in shown[number:]) else reason
        yield "" if is_alone(reasons, of) else where(names, of), clean(text, LONGEST)
    if len(reasons) > most:
        more = len(reasons) - most
        yield "", f"and {more:,} more reason{'' if more == 1 else 's'}"


def is_alone(reasons: Reasons, of: Whole) -> bool:
    """Whether there is only one reason and one node, so that the node's name is not needed."""
    return of.nodes <= 1 and len(reasons) == 1 and not any(map(is_group, reasons[0][1]))


def where(names: Sequence[str], of: Whole) -> str:
    """Format the count and the names of nodes: `7 of 8 nodes, dgx[02-08]`."""
    return locations.counted_names(names, of, lambda some: f"{locations.share(some, of)}, {fold(some)}")


def in_one_line(reasons: Reasons, of: Whole) -> str:
    """Format the most frequent reason in one line, with the number of other reasons; empty if no reason is known."""
    rows = [f"{at}: {why}" if at else why for at, why in lines(reasons, of, 1)]
    return "; ".join(rows)


def minor_note(minor: int) -> str:
    """Explain how severity makes the verdict; `minor` is the number of failing verdicts of minor rules.

    The text is empty if `minor` is 0.
    """
    if not minor:
        return ""
    some = "1 verdict of a minor rule fails" if minor == 1 else f"{minor} verdicts of minor rules fail"
    return f"{some} (to be fixed); only blocker and major rules decide the outcome"
