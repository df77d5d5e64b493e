"""Tools that were on the node already: what they found under load, of those that somebody asked for.

A tool that nobody asked for tells nothing, and that is no gap: its facts are absent, and so are rules about them n/a.
One that was asked for and is missing, did not end, or wrote what cannot be read, leaves its facts unknown. Which tools
were asked for is known by their records alone, for each has one; so where a record may be lost, nothing is absent.
"""

from collections.abc import Mapping

from rackcheck import Absent, Facts, Load, Reason, Unknown, probe
from rackcheck.model.burn_record import Burn
from rackcheck.model.catalogue import Type
from rackcheck.model.fact import Unreadable
from rackcheck.parse.burnin.readings import untested
from rackcheck.parse.burnin.tools import every
from rackcheck.parse.burnin.tools.answer import answer

_ENDS = {"loopback": "rate", "rate": "loopback"}
"""Of a NIC either is measured: with both ends on it, or with one on another node's."""


@probe(Load(), gives=every.GIVES)
def burnin_tools(burn: Burn) -> Facts:
    """Give what tools on the node found under load; of those that were not asked for, that they were not."""
    doubt, found = _lost(burn), dict(every.facts(burn.tools))
    for path, reading in found.items():
        # A collection of which a record may be lost is its items and one that nobody knows.
        listing = path in every.GIVES and every.GIVES[path].type is Type.COLLECTION
        yield path, doubt if doubt is not None and listing and isinstance(reading, tuple) else reading
    for path in found:
        at, _, leaf = path.rpartition(".")
        if at.startswith("burnin.ib_write_bw.nic/") and leaf in _ENDS and f"{at}.{_ENDS[leaf]}" not in found:
            yield f"{at}.{_ENDS[leaf]}", Absent(f"{leaf} was measured")
    if "burnin.tool" not in found:
        yield "burnin.tool", () if doubt is None else doubt
    asked = {record.get("name") for record in burn.tools}
    for names, gives in _groups():
        silent = [name for name in names if name in asked]
        why = Unknown(Reason.NOT_TESTED, f"{', '.join(silent)} told nothing that can be read") if silent else doubt
        for path in gives:
            if "*" not in path and path not in found:
                yield path, why or Absent(f"not asked for: --with {' or '.join(names)}")


def _lost(burn: Burn) -> Unknown | None:
    """Say why a tool's record may be lost; none where all tools that were asked for are told of."""
    if not burn.whole:
        return untested(burn, ())
    if burn.unread:
        return Unknown(Reason.NOT_TESTED, f"not all records could be read: {burn.odd}")
    if burn.of_thing("tools"):
        return Unknown(Reason.NOT_TESTED, "what runs the tools crashed")
    try:
        for record in burn.tools:
            answer(record)
    except Unreadable as error:
        return Unknown(error.reason, str(error))
    return None


def _groups() -> list[tuple[list[str], Mapping[str, object]]]:
    """Give the facts of each reader, with the names of all tools that it reads."""
    groups: dict[int, tuple[list[str], Mapping[str, object]]] = {}
    for name, (_, gives) in every.READERS.items():
        groups.setdefault(id(gives), ([], gives))[0].append(name)
    return list(groups.values())
