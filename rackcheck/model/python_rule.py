"""Rules written in Python, for conditions that operators cannot express.

A rule in Python declares the facts that it reads. The rule is not called if a declared fact is unknown, so it can
neither pass nor fail on unknown facts. The rule yields a `Wrong` for each finding; a rule that yields nothing passes.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Catalogue, Type
from rackcheck.model.fact import Plane
from rackcheck.model.inputs import Inputs


@dataclass(frozen=True, slots=True)
class Wrong:
    """A finding: the path (`gpu/3.serial`), the observed value, the expected value; with `warns`, only a warning."""

    item: str
    observed: str
    expected: str
    warns: bool = False

    def __post_init__(self) -> None:
        for name in ("item", "observed", "expected"):
            if not getattr(self, name):
                raise ValueError(f"a Wrong without `{name}` does not state the finding")


Check = Callable[[Inputs], Iterable[Wrong]]


@dataclass(frozen=True)
class Called:
    """A rule in Python: the facts it reads, and the function that checks them.

    `package` is the distribution that contains the rule, with its version; `planes`, `collections` and `inputs` are set
    by `bound`.
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
        """Return the rule with the plane of each declared fact; raises LookupError if no probe provides a fact."""
        planes: dict[str, Plane] = {}
        inputs: set[Plane] = set()
        collections: set[str] = set()
        for fact in self.facts:
            entry = catalogue.find(paths.parse(fact))
            if entry is None:
                near = catalogue.near(fact)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise LookupError(f"rule {self.name} reads {fact}, which no probe provides{hint}")
            planes[str(paths.parse(fact).pattern)] = entry.plane
            for way in paths.parse(fact).collections:
                listing = catalogue.find(way)
                planes.setdefault(str(way.pattern), listing.plane if listing is not None else entry.plane)
            inputs |= {entry.plane, *entry.inputs}
            if entry.kind.type is Type.COLLECTION:
                collections.add(fact)
        return replace(self, planes=planes, inputs=frozenset(inputs), collections=frozenset(collections))


def rule(*, facts: Iterable[str]) -> Callable[[Check], Called]:
    """Turn the decorated function into a rule; the rule's help is the first line of the function's docstring.

    The function receives `Inputs`: `reading(path)`, `items(collection)` and `table(collection, leaf)` of the declared
    facts, and yields a `Wrong` for each finding. Raises BadPath if a declared fact is not a valid path.
    """
    declared = tuple(facts)
    if not declared:
        raise ValueError("a rule without facts gives one verdict for every node")
    for fact in declared:
        paths.parse(fact)

    def made(check: Check) -> Called:
        doc = (check.__doc__ or "").strip().splitlines()
        return Called(getattr(check, "__name__", "rule"), declared, check, doc[0] if doc else "")

    return made
