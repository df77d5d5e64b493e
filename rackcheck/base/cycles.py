"""How often Python searches memory for cycles of references."""

import gc


def search_rarely() -> None:
    """Search less often than Python does by default.

    The facts and verdicts of a run are many small objects without cycles: the search took a fifth of the CPU time.
    """
    gc.set_threshold(50_000, 20, 50)
