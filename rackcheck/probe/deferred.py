"""Functions of probes that are imported when they are called first; what a probe declares is known without them."""

from dataclasses import dataclass
from functools import lru_cache, reduce
from importlib import import_module
from typing import Any

from rackcheck.base import program


@dataclass(frozen=True, slots=True)
class Deferred:
    """A function of rackcheck's probes: of the object `name` in `module`, the function that `steps` lead to.

    The steps are names of attributes and, in a tuple, positions: `("ask", "links", 2, "go")`. A call raises ImportError
    if a file of the module was changed after this process started, because what the function gives may then differ
    from what is declared; the facts of the probe are unknown.
    """

    module: str
    name: str
    steps: tuple[str | int, ...]

    def __call__(self, *given: Any) -> Any:
        """Import the function, if it was not called before, and call it."""
        return _function(self)(*given)


@lru_cache(maxsize=4096)
def _function(deferred: Deferred) -> Any:
    module = import_module(deferred.module)
    if program.changed(module.__file__ or ""):
        raise ImportError(f"{deferred.module} was changed after rackcheck started; start it again")
    return reduce(_step, deferred.steps, getattr(module, deferred.name))


def _step(value: Any, step: str | int) -> Any:
    return getattr(value, step) if isinstance(step, str) else value[step]
