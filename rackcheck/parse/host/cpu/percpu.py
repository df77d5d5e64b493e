"""One setting of all CPUs: its distinct values, and the CPUs whose value is not the most common one."""

from collections.abc import Collection, Mapping

from rackcheck.model.text.files import Files
from rackcheck.model.text.values import line, natural, whole


def by_cpu(files: Files, glob: str) -> dict[int, str]:
    """Return the one-line content of each CPU's file, by the CPU's number, which the first star of the glob matches.

    Raises Unreadable if the file of any CPU cannot be read, so that a result covers all CPUs.
    """
    found = {}
    for keys in files.found(glob):
        if keys[0].isascii() and keys[0].isdigit() and len(keys[0]) < 7:
            place = glob
            for key in keys:
                place = place.replace("*", key, 1)
            found[int(keys[0])] = line(files.text(place))
    return found


def numbers(values: Mapping[int, str]) -> dict[int, int]:
    """Convert each CPU's value from a text to a whole number."""
    return {cpu: whole(value) for cpu, value in values.items()}


def distinct(values: Mapping[int, str]) -> tuple[str, ...]:
    """Return the distinct values of the CPUs: a single value if they agree."""
    return tuple(sorted(set(values.values()), key=natural))


def odd(values: Mapping[int, str]) -> tuple[str, ...]:
    """Return the CPUs whose value is not the most common one, with their value: `17: 6`; empty if all CPUs agree."""
    saying: dict[str, list[int]] = {}
    for cpu, value in values.items():
        saying.setdefault(value, []).append(cpu)
    if len(saying) < 2:
        return ()
    most = min(saying, key=lambda value: (-len(saying[value]), natural(value)))
    return tuple(f"{ranges(saying[value])}: {value}" for value in sorted(saying, key=natural) if value != most)


def ranges(cpus: Collection[int]) -> str:
    """Write CPU numbers as ranges, as the kernel does: `0-3,8`."""
    spelt: list[str] = []
    ordered = sorted(set(cpus))
    start = 0
    for at in range(1, len(ordered) + 1):
        if at == len(ordered) or ordered[at] != ordered[at - 1] + 1:
            first, last = ordered[start], ordered[at - 1]
            spelt.append(f"{first}" if first == last else f"{first}-{last}")
            start = at
    return ",".join(spelt)


def listed(cpus: Collection[int]) -> tuple[str, ...]:
    """Return the ranges of CPUs as separate texts, `0-3` and `8`; empty if there are no CPUs."""
    return tuple(ranges(cpus).split(",")) if cpus else ()
