"""What is read from a part of a reply, read once for all nodes that return the same part: a resource, a PCI function.

The replies of two nodes of a rack differ in serial numbers, counters and readings, and most of their parts are equal. A
function that reads a part gets the part alone, so that equal parts give equal results.
"""

import marshal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from rackcheck.model.fact import Fact, Facts, Part, single
from rackcheck.model.recently_used import RecentlyUsed
from rackcheck.model.resource import FLAT, LARGEST, Resource

P = ParamSpec("P")
T = TypeVar("T")

BUDGET = 48 << 20
"""Maximum size of all kept parts and of what was read from them, in bytes; a node with eight GPUs takes about 12 MB."""

FACT = 500
"""Size of a kept fact with its path, source and leaf in bytes, about."""

PLAIN = frozenset({str, int, float, bool, type(None), dict, list, tuple})
"""Types of arguments that are compared by their content."""


class Fixed:
    """An object that never changes, and is compared by its identity: a constant, or what a parser keeps by a text."""


def by_part(function: Callable[P, Facts]) -> Callable[P, Part]:
    """Keep the facts that a function yields, for the next call with equal arguments; see `of_part`.

    What the function raises is raised at each call, after the facts before.
    """

    def made(*args: P.args, **kwargs: P.kwargs) -> Part:
        found: list[Fact] = []
        try:
            found.extend(single(function(*args, **kwargs)))
        except Exception as error:  # noqa: BLE001  raised by the part after the facts before
            return Part(tuple(found), error)
        return Part(tuple(found))

    @wraps(function)
    def part(*args: P.args, **kwargs: P.kwargs) -> Part:
        return _kept(function, args, kwargs, made)

    return part


def of_part(function: Callable[P, T]) -> Callable[P, T]:
    """Keep the value that a function returns, which must not be changed, for the next call with equal arguments.

    An argument is a text, a number or another value of JSON; a `Resource`, which the function gets without the
    resources above it; something `Fixed`, or a function of a module. The function must use nothing else of the reply.
    """

    @wraps(function)
    def value(*args: P.args, **kwargs: P.kwargs) -> T:
        return _kept(function, args, kwargs, function)

    return value


@dataclass(frozen=True, slots=True)
class _Kept:
    value: Any
    fixed: tuple[Any, ...]  # kept alive, since their identities are in the key


def _kept(
    function: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any], make: Callable[..., T]
) -> T:  # fmt: skip
    if named:
        raise TypeError(f"the arguments of {function.__name__} are passed by position, not as {', '.join(named)}")
    try:
        key = marshal.dumps((id(function), *map(_content, args)), FLAT)
    except ValueError:  # not JSON, or nested too deep
        key = b""
    if not key or len(key) > LARGEST:
        return make(*map(_alone, args))
    kept = kept_parts.get(key)
    if kept is None:
        value = make(*map(_alone, args))
        if isinstance(value, Part) and value.error is not None:
            return value
        kept = _Kept(value, (function, *filter(_is_fixed, args)))
        kept_parts.put(key, kept, len(key) + FACT * (1 + len(value.facts) if isinstance(value, Part) else 2))
    found: T = kept.value
    return found


def _alone(part: Any) -> Any:
    return part.alone if isinstance(part, Resource) else part


def _is_fixed(part: Any) -> bool:
    return isinstance(part, Fixed) or callable(part)


def _content(part: Any) -> Any:
    if type(part) in PLAIN:
        return part
    if _is_fixed(part):
        return (id(part),)
    if not isinstance(part, Resource):
        raise TypeError(f"no part of a reply: {part!r:.80}")
    if part.content is None:
        raise ValueError(part.uri)
    return part.content


kept_parts = RecentlyUsed[_Kept](BUDGET)
"""What this process has read from parts."""
