"""A value of an object that is computed once, at the first access."""

from collections.abc import Callable
from typing import Generic, TypeVar

S = TypeVar("S")
T = TypeVar("T")


class lazy(Generic[S, T]):  # noqa: N801  a decorator of methods
    """Replaces functools.cached_property, which in Python 3.11 uses one lock for all objects of a class."""

    def __init__(self, compute: Callable[[S], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __get__(self, owner: S, _: type[S]) -> T:
        value = self._compute(owner)
        owner.__dict__[self._compute.__name__] = value  # the next access finds this value before the descriptor
        return value
