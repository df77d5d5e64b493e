"""How many cases the long searches try: a tenth of them in a usual run, all of them with RACKCHECK_DEEP=1.

`make full` sets it. With all cases these searches took a third of the time of all tests.
"""

import os

DEEP = os.environ.get("RACKCHECK_DEEP", "") not in ("", "0")
SHARE = 10


def cases(everything: int) -> int:
    """Return how many of these cases are tried in this run, at least one."""
    return everything if DEEP else max(1, everything // SHARE)
