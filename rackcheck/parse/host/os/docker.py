"""Docker's configuration: the settings found in its daemon.json, and the lines of `docker info`."""

from collections.abc import Collection, Mapping, Sequence

from rackcheck.model.fact import Unreadable
from rackcheck.model.regex import regex
from rackcheck.model.text.values import flag, unquoted, whole

CGROUP_DRIVER, NVIDIA_RUNTIME = "native.cgroupdriver", "nvidia"
"""Names under which two parts of daemon.json are returned: the cgroup driver in `exec-opts`, and NVIDIA's runtime."""

_PIECE = regex(r'"([\w-]{1,40})" *: *("[^"]{0,200}"|true|false)|"native\.cgroupdriver=([a-z]{1,20})"|"(nvidia)" *: *\{')
_LINE = regex(r" ?([A-Z][A-Za-z ]{1,40}): ?(.{0,400}?)\s{0,20}")


def settings(rows: Sequence[str], *, texts: Collection[str], flags: Collection[str]) -> Mapping[str, str | bool]:
    """Read settings of daemon.json from rows such as `"data-root": "/raid"`; if a setting is repeated, the last counts.

    Raises Unreadable at a row that is not one of the settings in `texts` and `flags`, and at a flag that is neither
    true nor false.
    """
    given: dict[str, str | bool] = {}
    for row in rows:
        match = _PIECE.fullmatch(row)
        if match is None or (match[1] is not None and match[1] not in texts and match[1] not in flags):
            raise Unreadable(f"not a setting of daemon.json: {row[:80]!r}")
        name, value, driver, runtime = match.groups()
        if driver:
            given[CGROUP_DRIVER] = driver
        elif runtime:
            given[NVIDIA_RUNTIME] = True
        elif name in texts:
            given[name] = unquoted(value)
        else:
            given[name] = flag(value, yes="true", no="false")
    return given


def info(rows: Sequence[str]) -> Mapping[str, str]:
    """Read the lines `Name: value` of `docker info`; if a name is repeated, the first value counts.

    Docker 20.10 and later indents each line by one blank. Raises Unreadable at a line that is not a name and a value.
    """
    shown: dict[str, str] = {}
    for row in rows:
        match = _LINE.fullmatch(row)
        if match is None:
            raise Unreadable(f"not a name and a value: {row[:80]!r}")
        shown.setdefault(match[1], match[2])
    return shown


def shown(name: str, value: str) -> bool | int | str | tuple[str, ...]:
    """Convert a value of `docker info` to the type that its name requires: number, sorted names, boolean, or text.

    Raises Unreadable if the text of a number or of a boolean is invalid.
    """
    if name == "Cgroup Version":
        return whole(value)
    if name == "Runtimes":
        return tuple(sorted(value.split()))
    return flag(value, yes="true", no="false") if name == "Live Restore Enabled" else value
