"""Bodies of a BMC with more and more data missing."""

from collections.abc import Iterator

from noted import Bodies

from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.resource import ROOT, Body

LOST = (
    Unknown(Reason.TIMEOUT, "no answer"),
    Unknown(Reason.NOT_COLLECTED, "HTTP 404"),
    Unknown(Reason.UNPARSABLE, "not JSON"),
)


LINKS = frozenset(
    {
        *("Systems", "Managers", "Chassis", "UpdateService", "FirmwareInventory", "Members", "Bios", "SecureBoot"),
        *("Power", "PowerSubsystem", "PowerSupplies", "Thermal", "ThermalSubsystem", "Fans", "Links", "ManagedBy"),
        *("@Redfish.Settings", "SettingsObject"),
    }
)


WRONG: tuple[object, ...] = (None, [], {}, "xyzzy", {"@odata.id": None})


def less(held: Bodies) -> Iterator[tuple[str, str, Body | Unknown]]:
    """Every way to reduce one resource: what was removed, where, and the remaining body.

    An empty list in place of a full one is not less data, but another answer.
    """
    for uri, body in held.items():
        if isinstance(body, Unknown):
            continue
        yield from ((f"{unknown}", uri, unknown) for unknown in LOST if uri != ROOT or "404" not in unknown.detail)
        yield "empty", uri, {}
        for name, value in body.items():
            if not name.startswith("@odata"):
                yield f"{name} is null", uri, {**body, name: None}
            if name in LINKS:
                wrongs = (wrong for wrong in WRONG if wrong != [] or not isinstance(value, list))  # that is an answer
                yield from ((f"{name} is {wrong}", uri, {**body, name: wrong}) for wrong in wrongs)
            if isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
                yield f"{name} has an odd end", uri, {**body, name: [*value[:-1], None]}
            for inner in value if isinstance(value, dict) else ():
                yield f"{name}.{inner} is null", uri, {**body, name: {**value, inner: None}}
