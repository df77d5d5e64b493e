"""Results of tools that are installed on the node and were requested for the burn-in.

The facts of a tool that was not requested are absent, so that rules about these facts are n/a. If a requested tool is
missing, did not finish, or wrote unreadable output, its facts are unknown. Each requested tool has one record, and only
the records show which tools were requested. If a record may be lost, no fact is absent, because every tool may have
been requested.
"""

from collections.abc import Mapping

from rackcheck import Absent, Facts, Load, Reason, Unknown, probe
from rackcheck.model.burn_record import Burn
from rackcheck.model.catalogue import Type
from rackcheck.model.fact import Unreadable
from rackcheck.parse.burnin.readings import untested
from rackcheck.parse.burnin.tools import cublas, every
from rackcheck.parse.burnin.tools.answer import answer

_ENDS = {"loopback": "rate", "rate": "loopback"}
"""Maps each of two rates to the other: a NIC has either `loopback` (within itself) or `rate` (to another node)."""


@probe(Load(), gives={**every.GIVES, **cublas.PUBLISHED_GIVES})
def burnin_tools(burn: Burn) -> Facts:
    """Return the results of the requested tools; the facts of tools that were not requested are absent."""
    doubt, found = _lost(burn), dict(every.facts(burn.tools))
    for path, reading in found.items():
        # If a record of a collection may be lost, the items that were found are kept and the collection is unknown.
        listing = path in every.GIVES and every.GIVES[path].type is Type.COLLECTION
        yield path, doubt if doubt is not None and listing and isinstance(reading, tuple) else reading
    for path in found:
        at, _, leaf = path.rpartition(".")
        if at.startswith("burnin.ib_write_bw.nic/") and leaf in _ENDS and f"{at}.{_ENDS[leaf]}" not in found:
            yield f"{at}.{_ENDS[leaf]}", Absent(f"{leaf} was measured instead")
    for path, reading in found.items():
        at, _, leaf = path.rpartition(".")
        if at.startswith("burnin.cublas.gpu/") and leaf == "rate_fp8":
            about = burn.gpus.get(at.partition("/")[2], {})
            model = about.get("model")
            for name, value in cublas.against_published(model if isinstance(model, str) else "", reading):
                yield f"{at}.{name}", value
    if "burnin.tool" not in found:
        yield "burnin.tool", () if doubt is None else doubt
    asked = {record.get("name") for record in burn.tools}
    for names, gives in _groups():
        silent = [name for name in names if name in asked]
        why = Unknown(Reason.NOT_TESTED, f"{', '.join(silent)} returned nothing readable") if silent else doubt
        for path in gives:
            if "*" not in path and path not in found:
                yield path, why or Absent(f"not requested: --with {' or '.join(names)}")


def _lost(burn: Burn) -> Unknown | None:
    """Return why a record of a requested tool may be lost or unreadable; None if all records were read."""
    if not burn.whole:
        return untested(burn, ())
    if burn.unread:
        return Unknown(Reason.NOT_TESTED, f"not all records could be read: {burn.odd}")
    if burn.of_thing("tools"):
        return Unknown(Reason.NOT_TESTED, "the tool runner crashed")
    try:
        for record in burn.tools:
            answer(record)
    except Unreadable as error:
        return Unknown(error.reason, str(error))
    return None


def _groups() -> list[tuple[list[str], Mapping[str, object]]]:
    """Return, for each parser, the names of the tools whose output it parses, and the facts that it provides."""
    groups: dict[int, tuple[list[str], Mapping[str, object]]] = {}
    for name, (_, gives) in every.READERS.items():
        groups.setdefault(id(gives), ([], gives))[0].append(name)
    return list(groups.values())
