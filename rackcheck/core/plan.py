"""From the facts a profile names to the fewest questions: each probe once, each question once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rackcheck.core.catalogue import Catalogue
from rackcheck.core.fact import Plane
from rackcheck.core.path import Path
from rackcheck.core.path import parse as parse_path
from rackcheck.core.probe import AnyProbe, Read, Redfish, Shell


@dataclass(frozen=True)
class Plan:
    """What will be asked: the probes, one list of node questions, one of Redfish links."""

    probes: tuple[AnyProbe, ...]
    wanted: tuple[Path, ...] = ()

    @property
    def questions(self) -> tuple[Shell | Read, ...]:
        """The questions to a node's operating system, without doubles, in the probes' order."""
        asks = (probe.ask.asking(self.wanted) for probe in self.probes)
        return tuple(dict.fromkeys(ask for ask in asks if not isinstance(ask, Redfish)))

    @property
    def links(self) -> tuple[str, ...]:
        """The links to follow on a BMC, without doubles."""
        asks = (probe.ask for probe in self.probes)
        return tuple(dict.fromkeys(link for ask in asks if isinstance(ask, Redfish) for link in ask.links))

    @property
    def planes(self) -> frozenset[Plane]:
        """The planes that are asked at all."""
        return frozenset(probe.plane for probe in self.probes)


ALWAYS = tuple(map(parse_path, ("node.product", "os.release.name")))
"""Facts every audit reads beside those its rules name: they say what machine the verdict is about."""


def plan(wanted: Iterable[Path], probes: Sequence[AnyProbe], catalogue: Catalogue) -> Plan:
    """Choose the probes that give these facts, and those that list the collections the facts stand in."""
    names: dict[str, None] = {}
    paths = tuple(sorted({*wanted, *(p for p in ALWAYS if catalogue.find(p) is not None)}, key=str))
    for path in paths:
        for asked in (path, *_collections(path)):
            entry = catalogue.find(asked)
            if entry is not None:
                names[entry.probe] = None
    return Plan(tuple(probe for probe in probes if probe.name in names), paths)


def _collections(path: Path) -> Iterable[Path]:
    for depth, segment in enumerate(path.segments, start=1):
        if segment.key is not None:
            *before, _ = path.segments[:depth]
            yield Path((*before, type(segment)(segment.word)))
