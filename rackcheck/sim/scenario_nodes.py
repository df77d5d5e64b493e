"""Reads the nodes of a scenario file: names and node sets as in an inventory, machines, and rack positions."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.inventory import unfold
from rackcheck.inventory.merge import named
from rackcheck.profile.document import BadFile, Problem, Scalar, SourcePlace, YamlMapping
from rackcheck.profile.layers import did_you_mean, word
from rackcheck.sim import machine
from rackcheck.sim.behaviour import BmcConduct, Conduct, Station
from rackcheck.sim.fault_words import SLOWEST, number

ALL = "@{all}"
"""The placeholder in a scenario's node set that is replaced by a range of numbers, such as `[0001-0072]`."""

MOST = 5000
"""Maximum number of nodes of one simulated rack."""

FASTEST, SEEDS = 1000, 2**31 - 1
"""Maximum simulated seconds of a burn-in per real second; maximum random seed for differences between nodes."""

RACK, UNITS = "rack-48u", 48
"""The rack type of every rack in a scenario, and its height in rack units."""


class Growth:
    """The node sets of variable size in a scenario file, and the names of all nodes that they may contain."""

    def __init__(self, table: YamlMapping) -> None:
        nodes = table.items["nodes"]
        self._sets = [key for key in nodes.items if ALL in key] if isinstance(nodes, YamlMapping) else []

    def __bool__(self) -> bool:
        return bool(self._sets)

    @cached_property
    def names(self) -> frozenset[str]:
        """Return every name of the largest possible rack."""
        return frozenset(name for key in self._sets for name in unfold(key.replace(ALL, f"[0001-{MOST:04}]")))


class Builder:
    """Builds the simulated nodes of a scenario file, and collects errors."""

    def __init__(self, path: Path, table: YamlMapping, problems: list[Problem]) -> None:
        self._path, self._table, self._problems = path, table, problems
        self._filled: dict[str, int] = {}

    def stations(self, count: int | None, shown: str, growing: Iterable[str] = ()) -> dict[str, Station]:
        """Return every simulated node by name; raises UserError if `count` is set but no node set has variable size."""
        listed = self._table.items["nodes"]
        assert isinstance(listed, YamlMapping)
        wanted = self._count(count, listed, shown, growing)
        conduct = self._load(), self._bmc()
        found: dict[str, Station] = {}
        for key, own in listed.items.items():
            if ALL in key and not wanted:
                self._problems.append(Problem(listed.keys[key], f"`count` must set the number of nodes in {key}"))
                continue
            place = listed.keys[key]
            names = named(key.replace(ALL, f"[0001-{wanted:04}]"), place, self._problems)
            if len(found) + len(names) > MOST:
                self._problems.append(Problem(place, f"more than {MOST} nodes"))
                return found
            for name in names:
                if name in found:
                    self._problems.append(Problem(place, f"{name} is defined twice"))
                elif isinstance(own, YamlMapping) and not self._add(found, name, own, conduct, place):
                    break  # the other nodes of this set have the same error
        return found

    def _count(self, count: int | None, listed: YamlMapping, shown: str, growing: Iterable[str]) -> int:
        """Return the number of nodes per node set of variable size; 0 if neither `count` nor the file sets it."""
        grows = any(ALL in key for key in listed.items)
        if count is not None and not grows:
            raise UserError(f"{shown} has a fixed number of nodes (racks of variable size: {', '.join(growing)})")
        value = self._table.get("count")
        if not isinstance(value, Scalar):
            return count or 0
        if not grows:
            self._problems.append(Problem(value.place, f"`count` is set, but no node set in `nodes` has {ALL}"))
        return count or self._number(self._table, "count", 1, MOST, 0)

    def _add(
        self,
        found: dict[str, Station],
        name: str,
        own: YamlMapping,
        conduct: tuple[Conduct, BmcConduct],
        place: SourcePlace,
    ) -> bool:
        before = len(self._problems)
        height = self._number(own, "height", 1, UNITS, 1)
        rack = word(own, "rack")
        u = self._filled.get(rack, 0) + 1 if rack else 0
        if rack and u + height - 1 > UNITS:
            self._problems.append(Problem(place, f"{name} does not fit into rack {rack}, which has {UNITS} units"))
        if len(self._problems) > before:
            return False
        try:
            held = machine.load(_machine(word(own, "machine"), self._path), name, len(found) + 1)
        except BadFile as error:
            self._problems += error.problems
            return False
        except UserError as error:
            self._problems.append(Problem(place, str(error)))
            return False
        self._filled[rack] = u + height - 1
        found[name] = Station(name, len(found) + 1, held, *conduct, rack=rack, u=u, height=height)
        return True

    def _load(self) -> Conduct:
        own = self._table.get("load")
        if not isinstance(own, YamlMapping):
            return Conduct()
        pace, seed = self._number(own, "pace", 1, FASTEST, 1), self._number(own, "seed", 0, SEEDS, 0)
        return Conduct(load_pace=float(pace), load_seed=seed)

    def _bmc(self) -> BmcConduct:
        own = self._table.get("bmc")
        usual = BmcConduct()
        if not isinstance(own, YamlMapping):
            return usual
        return replace(
            usual,
            sessions=self._number(own, "sessions", 1, 1000, usual.sessions),
            workers=self._number(own, "workers", 1, 1000, usual.workers),
            latency=self._number(own, "milliseconds", 0, SLOWEST, 0) / 1000,
        )

    def _number(self, table: YamlMapping, key: str, low: int, high: int, default: int) -> int:
        value = table.get(key)
        if not isinstance(value, Scalar):
            return default
        try:
            return number({key: value.text}, key, low, high)
        except UserError as error:
            self._problems.append(Problem(value.place, str(error)))
            return default


def _machine(name: str, beside: Path) -> Path:
    """Return a machine's folder by its name, or by a path relative to the scenario's folder."""
    known = machine.shipped()
    if name in known:
        return known[name]
    path = beside.parent / Path(name).expanduser()
    if "/" in name and path.is_dir():
        return path
    raise UserError(f"no machine {name}{did_you_mean(name, list(known))} (there are {', '.join(known)})")
