"""Regular expressions that are compiled when they are first used.

The parsers have hundreds of them, and a command needs few: to compile all took a quarter of the time to load them.
"""

import re
from typing import AnyStr, Generic, cast

_USED = tuple(name for name in dir(re.Pattern) if not name.startswith("_"))


class LateRegex(Generic[AnyStr]):
    """A regular expression in source form; the first access to an attribute compiles it, and adds all attributes."""

    def __init__(self, source: AnyStr, flags: int) -> None:
        self._source: AnyStr = source
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):  # what `copy` and `pickle` look for on an object without attributes
            raise AttributeError(name)
        compiled = re.compile(self._source, self._flags)
        self.__dict__.update((each, getattr(compiled, each)) for each in _USED)
        return getattr(compiled, name)


def regex(source: AnyStr, flags: int = 0) -> "re.Pattern[AnyStr]":
    """Return a regular expression that has the attributes of `re.Pattern`, and is compiled at the first access."""
    return cast("re.Pattern[AnyStr]", LateRegex(source, flags))
