"""The kernel's memory blocks, counted by state: rows such as `blocks 64`, `61 online`, `size 8000000`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.model.text.values import whole


@dataclass(frozen=True)
class Blocks:
    """The number of memory blocks, the number in each state, and the texts of the rows `size` and `auto`."""

    count: int
    states: Mapping[str, int]
    words: Mapping[str, str]

    def having(self, state: str) -> int | Unknown:
        """Return the number of memory blocks in the given state; unknown unless every block has reported its state."""
        saying = sum(self.states.values())
        if 0 < self.count == saying:
            return self.states.get(state, 0)
        return Unknown(Reason.NOT_COLLECTED, f"{saying} of {self.count} blocks reported their state")


def blocks(rows: Sequence[str]) -> Blocks:
    """Read the rows that count the memory blocks; raises Unreadable if a count is not a whole number."""
    table = {words[-1] if words[0].isdigit() else words[0]: words for row in rows if (words := row.split())}
    pairs = {name: words for name, words in table.items() if len(words) == 2}
    states = {words[1]: whole(words[0]) for words in pairs.values() if words[0].isdigit()}
    count = whole(pairs["blocks"][1]) if "blocks" in pairs else 0
    return Blocks(count, states, {name: words[1] for name, words in pairs.items() if name in {"size", "auto"}})


def mebibytes(size: str) -> float:
    """Convert a memory block's size in bytes, a hexadecimal number, to MiB; raises Unreadable on anything else."""
    if not re.fullmatch("[0-9a-f]{1,16}", size):
        raise Unreadable(f"not a size in hexadecimal: {size[:40]!r}")
    return int(size, 16) / (1 << 20)
