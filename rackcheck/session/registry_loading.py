"""Loads the registry of probes for commands; modules that cannot be loaded are reported once."""

from functools import cache

from rackcheck.probe.registry import Registry, registry
from rackcheck.session.output import note


@cache
def known() -> Registry:
    """Return every installed probe; print a line on stderr for each module that could not be loaded."""
    found = registry()
    for broken in found.broken:
        note(f"rackcheck: probes left out: {broken}")
    return found
