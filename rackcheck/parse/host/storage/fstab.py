"""The mount points of /etc/fstab held against those of the kernel.

The node prints `no fstab`, or `fstab POINT TYPE auto|noauto` for each line of it; then `mounted POINT` for each mount,
and `end`. Points are written as fstab(5) and the kernel escape them.
"""

import re

from rackcheck.model.fact import Unreadable
from rackcheck.model.text.values import rows
from rackcheck.parse.host.storage.proc_mounts import unescaped

_ROW = re.compile(
    r"fstab (?P<point>\S{1,4096}) (?P<type>\S{1,64}) (?P<boot>auto|noauto)|mounted (?P<mounted>/\S{0,4096})"
)


def unmounted(answer: str) -> tuple[str, ...] | None:
    """Give the points that boot should mount and where nothing is mounted, in their order; none without the file.

    Swap has no point. Raises Unreadable on an answer that was cut, or holds another row.
    """
    told = rows(answer)
    none = told[:1] == ["no fstab"]
    matches = [_ROW.fullmatch(row) for row in told[none:-1]]
    if told[-1:] != ["end"] or None in matches:
        raise Unreadable(f"not the rows of fstab and of mounts: {answer[:80]!r}")
    found = [match for match in matches if match]
    mounted = {_place(match["mounted"]) for match in found if match["mounted"]}
    wanted = [_place(m["point"]) for m in found if m["boot"] == "auto" and m["type"] != "swap" and m["point"][0] == "/"]
    return None if none else tuple(sorted({point for point in wanted if point not in mounted}))


def _place(field: str) -> str:
    """Give a mount point without the slash at its end that people write."""
    return unescaped(field).rstrip("/") or "/"
