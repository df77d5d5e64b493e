"""The upper quartile of the measurements of GPUs, with which a slow GPU is compared. Pure.

The upper quartile stands for a healthy GPU even if more than half of the GPUs are slow: four of seven, for example.
"""

import math
from collections.abc import Iterable

from rackcheck.parse.burnin.spans import NumberRange

UPPER = 0.75


def upper_quartile(values: Iterable[float], missing: int = 0) -> NumberRange:
    """Return the range of the upper quartile; `missing` further values are unknown and may have any rank.

    Values are positive or 0: the low end is 0, and the high end infinite, if missing values leave them undetermined.
    Raises ValueError if there are no values at all.
    """
    order = sorted(values)
    if not order and not missing:
        raise ValueError("no values from which to compute a quartile")
    at = round(UPPER * (len(order) + missing - 1))
    return NumberRange(
        order[at - missing] if at >= missing and order else 0.0, order[at] if at < len(order) else math.inf
    )
