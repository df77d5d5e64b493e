"""Bodies of a BMC that record which of them a probe reads: changes elsewhere do not change its facts."""

from collections.abc import Iterator, Mapping

from rackcheck.model.fact import Unknown
from rackcheck.model.resource import Body

Bodies = Mapping[str, Body | Unknown]


class Noted(Mapping[str, Body | Unknown]):
    """Bodies that record which of them are read."""

    def __init__(self, bodies: Bodies) -> None:
        self.bodies = bodies
        self.seen: set[str] = set()

    def __getitem__(self, key: str) -> Body | Unknown:
        self.seen.add(key)
        return self.bodies[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.bodies)

    def __len__(self) -> int:
        return len(self.bodies)
