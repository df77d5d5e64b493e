"""Releases of kernels, as `uname -r` and the folders of modules spell them: `5.15.0-1053-nvidia`."""

from collections.abc import Sequence
from functools import cmp_to_key, partial

from rackcheck.model.fact import Absent, Reason, Unknown
from rackcheck.model.version import Unordered, order


def newest(releases: Sequence[str]) -> str | Absent | Unknown:
    """Give the newest; absent where there is none, unknown (unparsable) where one of several is no release."""
    try:
        ordered = sorted(releases, key=cmp_to_key(partial(order, "kernel")))
    except Unordered as error:
        return Unknown(Reason.UNPARSABLE, str(error))
    return ordered[-1] if ordered else Absent("no modules are installed")
