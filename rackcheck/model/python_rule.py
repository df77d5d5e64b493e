"""Rules written in Python, for conditions that operators cannot express.

Such a rule declares its facts. It is not called if one of them is unknown, so it can neither pass nor fail on unknown
facts. It yields what is wrong; a rule that yields nothing passes.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Catalogue, Type
from rackcheck.model.fact import Plane
from rackcheck.model.inputs import Inputs


@dataclass(frozen=True, slots=True)
class Wrong:
    """A finding: where (`gpu/3.serial`), what was observed, and what it must be; `warns` if it is not a failure."""

    item: str
    observed: str
    expected: str
    warns: bool = False

    def __post_init__(self) -> None:
        for name in ("item", "observed", "expected"):
            if not getattr(self, name):
                raise ValueError(f"a Wrong without `{name}` tells nobody what is wrong")


Check = Callable[[Inputs], Iterable[Wrong]]


@dataclass(frozen=True)
class Called:
    """A rule in Python: the facts it reads, and the function that checks them.

    `package` is the distribution that holds it, with its version; `planes` and `inputs` are set once it is bound.
    """

    name: str
    facts: tuple[str, ...]
    check: Check = field(compare=False)
    help: str = ""
    package: str = ""
    planes: Mapping[str, Plane] = field(default_factory=dict, compare=False)
    collections: frozenset[str] = field(default_factory=frozenset, compare=False)
    inputs: frozenset[Plane] = field(default_factory=frozenset, compare=False)

    def bound(self, catalogue: Catalogue) -> "Called":
        """The same, with the plane of each declared fact; raises LookupError for a fact that no probe provides."""
        planes: dict[str, Plane] = {}
        inputs: set[Plane] = set()
        collections: set[str] = set()
        for fact in self.facts:
            entry = catalogue.find(paths.parse(fact))
            if entry is None:
                near = catalogue.near(fact)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise LookupError(f"rule {self.name} reads {fact}, which no probe gives{hint}")
            planes[str(paths.parse(fact).pattern)] = entry.plane
            for way in paths.parse(fact).collections:
                listing = catalogue.find(way)
                planes.setdefault(str(way.pattern), listing.plane if listing is not None else entry.plane)
            inputs |= {entry.plane, *entry.inputs}
            if entry.kind.type is Type.COLLECTION:
                collections.add(fact)
        return replace(self, planes=planes, inputs=frozenset(inputs), collections=frozenset(collections))


def rule(*, facts: Iterable[str]) -> Callable[[Check], Called]:
    """Make a rule of the decorated function; its help is the first line of the function's docstring.

    The function receives `Inputs`: `reading(path)`, `items(collection)` and `table(collection, leaf)` of what it
    declared, and yields a `Wrong` for each finding. Raises BadPath for an invalid fact path.
    """
    declared = tuple(facts)
    if not declared:
        raise ValueError("a rule that reads no fact says the same of every node")
    for fact in declared:
        paths.parse(fact)

    def made(check: Check) -> Called:
        doc = (check.__doc__ or "").strip().splitlines()
        return Called(getattr(check, "__name__", "rule"), declared, check, doc[0] if doc else "")

    return made
