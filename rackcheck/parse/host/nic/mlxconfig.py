"""The output of `mlxconfig -d DEVICE -e query`: the firmware's parameters, with default, current and next value.

Based on the documentation and on outputs that others published; not verified on our own hardware.
"""

from dataclasses import dataclass

from rackcheck.model.fact import Reading, Unreadable, clean
from rackcheck.model.regex import regex

LINES = 800
"""Maximum number of lines in mlxconfig's output for one PCI function; a longer output is not read."""

LEAVES = ("model", "part", "config", "config_waiting")
"""Names of the readings of one PCI function."""

_DESCRIPTIONS = {"model": "Device type", "part": "Name"}
_HEAD = "Configurations:"
_ROW = regex(r"\*? {0,40}([A-Z][A-Z0-9_]{1,79}) {1,60}(\S{1,200}) {1,60}(\S{1,200}) {1,60}(\S{1,200}) {0,60}")
_DESCRIBED = regex(r"(Device type|Name): {1,40}([^\n]{1,100}?) {0,100}")


@dataclass(frozen=True)
class Parameter:
    """One firmware parameter: its name, its default value, its current value, and its value after the next boot."""

    name: str
    default: str
    current: str
    following: str


@dataclass(frozen=True)
class Query:
    """One PCI function: its `Device type` and `Name`, if printed, and its parameters in the table's order."""

    described: dict[str, str]
    parameters: tuple[Parameter, ...]

    @property
    def waiting(self) -> tuple[str, ...]:
        """The parameters that the next boot changes, with their new values: `SRIOV_EN=False(0)`."""
        return tuple(f"{p.name}={p.following}" for p in self.parameters if p.current != p.following)


def query(text: str) -> Query:
    """Read mlxconfig's output for one PCI function.

    Raises Unreadable if there is no table of default, current and next values, and on a row that is not a parameter.
    """
    rows = text.splitlines()
    if len(rows) > LINES:
        raise Unreadable(f"{len(rows)} lines")
    head = next((at for at, row in enumerate(rows) if row.startswith(_HEAD)), None)
    if head is None or rows[head].split()[1:] != ["Default", "Current", "Next", "Boot"]:
        raise Unreadable(f"no table of default, current and next values: {clean(text, 80)!r}")
    parameters = []
    for row in rows[head + 1 :]:
        match = _ROW.fullmatch(row)
        if match is not None:
            parameters.append(Parameter(*match.groups()))
        elif row.strip() and not row.startswith("The '*' shows"):
            raise Unreadable(f"not a parameter: {clean(row, 80)!r}")
    described = {match[1]: match[2] for row in rows[:head] if (match := _DESCRIBED.fullmatch(row))}
    return Query(described, tuple(parameters))


def facts(text: str) -> dict[str, Reading]:
    """Return the readings of one PCI function: model, part, firmware parameters, and what the next boot changes.

    A parameter has two readings, `config/NAME.value` and `config/NAME.default`. The model or the part is left out if
    mlxconfig does not print it.
    """
    found = query(text)
    values: dict[str, Reading] = {
        leaf: found.described[key] for leaf, key in _DESCRIPTIONS.items() if key in found.described
    }
    for parameter in found.parameters:
        values[f"config/{parameter.name}.value"] = parameter.current
        values[f"config/{parameter.name}.default"] = parameter.default
    return values | {"config_waiting": found.waiting}
