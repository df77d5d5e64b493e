"""The figures of a burn-in that a document shows for each kind of part, read from a node's facts. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from rackcheck.model import path as paths
from rackcheck.model.fact import Absent, clean
from rackcheck.model.text import natural
from rackcheck.model.tree import Leaf

BURNIN = "burnin."

Figures = tuple[tuple[str, str], ...]
"""Pairs of the end of a fact's path (after `burnin.gpu/3.`, for example) and the figure's name in the document.

If `lowest` or `median` precedes the path, the figure is the lowest value or the median of all items in a collection.
"""

GPU: Figures = (
    ("tensor.rate", "tensor rate"), ("tensor.work_per_clock", "work per clock"), ("tensor.clock", "clock"),
    ("tensor.power", "power"), ("tensor.of_limit", "power, share of limit"), ("tensor.energy", "energy per 10^12 FLOP"),
    ("memory.march", "memory march"), ("memory.copy", "memory copy"), ("memory.coverage", "memory covered"),
    ("temperature", "hottest"), ("memory_temperature", "memory, hottest"), ("tensor.rise", "temperature rise per watt"),
    ("heat.resistance", "heat resistance"), ("heat.ahead", "after ten minutes, predicted"),
)  # fmt: skip

LINK: Figures = (
    ("link.h2d", "from the host"), ("link.d2h", "to the host"), ("lowest peer/*.rate", "to the slowest peer"),
    ("link.generation", "PCIe generation"), ("link.width", "PCIe lanes"),
)  # fmt: skip

CPU: Figures = (
    ("cpu.triad", "memory triad"), ("median core/*.rate", "core, median"),
    ("lowest core/*.rate", "core, slowest"), ("lowest core/*.share", "core, lowest share of its limit"),
    ("cpu.share", "processor time received"), ("cpu.temperature", "hottest"),
)  # fmt: skip

AIR: Figures = (("inlet", "air at the intake"), ("power", "whole machine, peak power"))

LIGHT = ("tensor", "memory.copy", "memory.verify", "memory.march", "link.h2d", "link.d2h")
"""Names of the GPU figures that have a physical limit, which is the fact `light.NAME.limit`."""

NAMES = {
    "tensor": "tensor rate", "memory.copy": "memory copy", "memory.verify": "memory verify",
    "memory.march": "memory march", "link.h2d": "from the host", "link.d2h": "to the host",
}  # fmt: skip

RATES = {"tensor": "tensor.rate"}
"""The path of the measured rate, by the name of the figure in LIGHT, if the two differ."""


@dataclass(frozen=True, slots=True)
class ThingKind:
    """A kind of part: the collection in a node's facts (empty for the node itself), and its figures."""

    name: str
    collection: str
    figures: Figures


KINDS = (
    ThingKind("GPUs", "gpu", GPU),
    ThingKind("GPU links", "gpu", LINK),
    ThingKind("processors", "", CPU),
    ThingKind("machines", "", AIR),
)


@dataclass(frozen=True, slots=True)
class Light:
    """One figure of one part with its physical limit, in the same unit; a value that is not known is None.

    If the limit is not known, `why` is the reason.
    """

    name: str
    rate: float | None
    limit: float | None
    reached: float | None
    gaps: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Thing:
    """One part of a node with its figures, in the order of its kind's figures; a figure that is not known is None.

    `kind` is an index in KINDS; `item` is, for example, `gpu/3`.
    """

    kind: int
    item: str
    model: str
    values: tuple[float | None, ...]
    lights: tuple[Light, ...] = ()


@dataclass(frozen=True, slots=True)
class Meaning:
    """A figure's unit and help text from the catalogue of facts."""

    unit: str
    help: str


def things(leaves: Mapping[str, Leaf]) -> Iterator[Thing]:
    """Yield every GPU, and every other part that has any figure, in the order of KINDS, then of their names."""
    rows = [path for path in leaves if path.startswith(BURNIN)]
    for number, kind in enumerate(KINDS):
        for key in _keys(leaves, kind.collection) if kind.collection else ("",):
            at = f"{BURNIN}{kind.collection}/{paths.spell_key(key)}." if key else BURNIN
            inside = [path for path in rows if path.startswith(at)]
            values = tuple(_value(leaves, at, inside, path) for path, _ in kind.figures)
            model = _text(leaves, f"{at}model") if key else _text(leaves, f"{BURNIN}cpu.model") * (number == 2)
            lights = tuple(_lights(leaves, at)) if number == 0 else ()
            if any(value is not None for value in values) or number == 0:
                yield Thing(number, f"{kind.collection}/{key}" if key else "node", model, values, lights)


def meanings(leaves: Mapping[str, Leaf]) -> Mapping[str, Meaning]:
    """Return the unit and help text of each figure; a dictionary key is `KIND PATH`, or `light NAME` for a limit."""
    found: dict[str, Meaning] = {}
    patterns = {str(paths.parse(path).pattern): leaf.kind for path, leaf in leaves.items() if path.startswith(BURNIN)}
    for kind in KINDS:
        at = f"{BURNIN}{kind.collection}/*." if kind.collection else BURNIN
        for path, _ in kind.figures:
            value = patterns.get(f"{at}{path.rpartition(' ')[2]}")
            if value is not None:
                found[f"{kind.name} {path}"] = Meaning(value.unit, value.help)
    for name in LIGHT:
        limit = patterns.get(f"{BURNIN}gpu/*.light.{name}.limit")
        if limit is not None:
            found[f"light {name}"] = Meaning(limit.unit, limit.help)
    return found


def _keys(leaves: Mapping[str, Leaf], collection: str) -> tuple[str, ...]:
    begin = f"{BURNIN}{collection}/"
    # A path with a star as key is not an item: it stores why a fact is unknown on all items.
    items = (paths.parse(path).items for path in leaves if path.startswith(begin))
    return tuple(sorted({inside[0][1] for inside in items if inside}, key=natural))


def _value(leaves: Mapping[str, Leaf], at: str, inside: list[str], path: str) -> float | None:
    gathered, _, below = path.rpartition(" ")
    if not gathered:
        return _number(leaves, f"{at}{path}")
    begin, _, end = below.partition("/*")
    found = [
        value
        for each in inside
        if each.startswith(f"{at}{begin}/") and each.endswith(end) and (value := _number(leaves, each)) is not None
    ]
    return (min(found) if gathered == "lowest" else median(found)) if found else None


def _lights(leaves: Mapping[str, Leaf], at: str) -> Iterator[Light]:
    for name in LIGHT:
        of = f"{at}light.{name}"
        limit = leaves.get(f"{of}.limit")
        if limit is None:
            continue
        gap = leaves.get(f"{of}.gap")
        gaps = tuple(clean(each) for each in gap.reading) if gap is not None and isinstance(gap.reading, tuple) else ()
        why = ""
        if not isinstance(limit.reading, float):
            why = limit.reading.detail if isinstance(limit.reading, Absent) else str(limit.reading)
        yield Light(
            name, _number(leaves, at + RATES.get(name, name)), _number(leaves, f"{of}.limit"),
            _number(leaves, f"{of}.reached"), gaps, why,
        )  # fmt: skip


def _number(leaves: Mapping[str, Leaf], path: str) -> float | None:
    leaf = leaves.get(path)
    known = leaf is not None and isinstance(leaf.reading, int | float) and not isinstance(leaf.reading, bool)
    return float(leaf.reading) if known and leaf is not None and isinstance(leaf.reading, int | float) else None


def _text(leaves: Mapping[str, Leaf], path: str) -> str:
    leaf = leaves.get(path)
    return leaf.reading if leaf is not None and isinstance(leaf.reading, str) else ""
