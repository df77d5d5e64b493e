"""What can be asked, for commands: they tell once what could not be loaded."""

from functools import cache

from rackcheck.probe.registry import Registry, registry
from rackcheck.session.output import note


@cache
def known() -> Registry:
    """Give every probe that there is, with a line on stderr for each module that had to be left out."""
    found = registry()
    for broken in found.broken:
        note(f"rackcheck: probes left out: {broken}")
    return found
