"""A probe: one question to a plane, and a parser of the answer without side effects."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, TypeVar, overload

from rackcheck.model.burn_record import Burn
from rackcheck.model.catalogue import FAMILY, Catalogue, Entry, Kind
from rackcheck.model.documents import Documents
from rackcheck.model.fact import Facts, Plane
from rackcheck.model.path import EVERY, Path
from rackcheck.model.path import parse as parse_path
from rackcheck.model.question import Ask, Load, Read, Redfish, Shell
from rackcheck.model.text import Files

A = TypeVar("A", Shell, Read, Redfish, Load)
LoadReader = Callable[[Burn], Facts]
ShellReader = Callable[[str], Facts]
ReadReader = Callable[[Files], Facts]
RedfishReader = Callable[[Documents], Facts]
Reader = ShellReader | ReadReader | RedfishReader | LoadReader


@dataclass(frozen=True)
class Probe(Generic[A]):
    """A question, the facts that the probe declares, and its parser."""

    name: str
    ask: A
    gives: Mapping[str, Kind]
    parse: Reader = field(compare=False)
    help: str = ""

    @property
    def plane(self) -> Plane:
        """Return the plane that this probe reads."""
        return _PLANES.get(type(self.ask), Plane.OS)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The catalogue of the facts that this probe declares."""
        return Catalogue.of(self.entries())

    @cached_property
    def patterns(self) -> tuple[tuple[Path, Kind], ...]:
        """The declared path patterns without families, those with the fewest words first."""
        found = [(parse_path(pattern), kind) for pattern, kind in self.gives.items() if not pattern.endswith(FAMILY)]
        return tuple(sorted(found, key=lambda entry: len(entry[0].segments)))

    @cached_property
    def places(self) -> tuple["Places", ...]:
        """The patterns in `patterns`, each split into the pattern of its items and the rest of the path."""
        return tuple(_split(pattern, kind) for pattern, kind in self.patterns)

    @cached_property
    def plain(self) -> bool:
        """Whether each fact belongs to exactly one pattern: none names an item, and none is a family of facts."""
        keys = {segment.key for pattern, _ in self.patterns for segment in pattern.segments}
        return len(self.patterns) == len(self.gives) and keys <= {None, EVERY}

    def entries(self) -> Iterable[Entry]:
        """Return the catalogue entries of the facts that this probe declares."""
        return (Entry(pattern, kind, self.plane, self.name) for pattern, kind in self.gives.items())


@dataclass(frozen=True, slots=True)
class Places:
    """The places of the facts of one pattern: of `gpu/*.nvlink/*.state`, the `item` is `gpu/*.nvlink/*`.

    The `rest` is `.state`. The item of `gpu.count` is an empty path.
    """

    pattern: Path
    kind: Kind
    item: Path
    rest: str


def _split(pattern: Path, kind: Kind) -> Places:
    last = max((i for i, segment in enumerate(pattern.segments, start=1) if segment.key is not None), default=0)
    item = Path(pattern.segments[:last])
    return Places(pattern, kind, item, pattern.text[len(item.text) :])


_PLANES: Mapping[type[Ask], Plane] = {Redfish: Plane.BMC, Load: Plane.BURNIN}
"""The plane for each type of question; questions of other types are for the OS plane."""

AnyProbe = Probe[Shell] | Probe[Read] | Probe[Redfish] | Probe[Load]


def names(module: str) -> tuple[str, ...]:
    """Return the function names that match a module: the module's name, alone or with a prefix.

    In a package, the prefix is the folder's name or the last word of that name: for `xid` in the folder `kernel_log`,
    the names are `xid`, `kernel_log_xid` and `log_xid`.
    """
    *package, folder, own = ("", "", *module.split("."))[-3:]
    return (own, f"{folder}_{own}", f"{folder.rpartition('_')[2]}_{own}") if package[0] else (own,)


@overload
def probe(ask: Shell, *, gives: Mapping[str, Kind]) -> Callable[[ShellReader], Probe[Shell]]: ...
@overload
def probe(ask: Read, *, gives: Mapping[str, Kind]) -> Callable[[ReadReader], Probe[Read]]: ...
@overload
def probe(ask: Redfish, *, gives: Mapping[str, Kind]) -> Callable[[RedfishReader], Probe[Redfish]]: ...
@overload
def probe(ask: Load, *, gives: Mapping[str, Kind]) -> Callable[[LoadReader], Probe[Load]]: ...
def probe(ask: Ask, *, gives: Mapping[str, Kind]) -> Callable[..., AnyProbe]:
    """Make a probe from the decorated parser function; the probe has the name of the function.

    The help of the probe is the first line of the module's docstring if the function's name matches the module (see
    `names`), else the first line of the function's docstring.
    """
    for pattern in gives:
        parse_path(pattern.removesuffix(FAMILY))

    def made(parse: Reader) -> AnyProbe:
        name = getattr(parse, "__name__", "probe")
        module = getattr(parse, "__globals__", {}) if name in names(parse.__module__) else {}
        doc = (module.get("__doc__") or parse.__doc__ or "").strip().splitlines()
        return Probe(name, ask, dict(gives), parse, doc[0] if doc else "")  # type: ignore[return-value,type-var]  # one of three, by the overloads

    return made
