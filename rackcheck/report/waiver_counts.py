"""Counts waivers in force and waivers without effect."""

from collections.abc import Iterable

from rackcheck.report.report_model import Exemption
from rackcheck.views.summary import several


def in_force(exemptions: Iterable[Exemption]) -> str:
    """Format the counts of waivers: `1 waiver in force, 4 without effect`; empty if there are none.

    A waiver that is in force on only some of its nodes is counted once, as in force.
    """
    rows = list(exemptions)
    given = {_name(e) for e in rows}
    used = {_name(e) for e in rows if e.state == "used"}
    idle = len(given) - len(used)
    if not given:
        return ""
    return f"{several(len(used), 'waiver')} in force" + (f", {idle} without effect" if idle else "")


def _name(e: Exemption) -> tuple[object, ...]:
    return e.rule, e.pins, e.until, e.by, e.ticket, e.reason, e.place
