"""The goals of a GPU's burn-in, and the comparison of measured figures with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Missing(Exception):
    """A figure is missing; the message states why."""


def figure(measured: dict[str, Any], item: str, *names: str) -> Any:
    """Return the figure of an item under these nested names; raises Missing."""
    found = measured.get(item)
    if found is None:
        raise Missing(f"{item} was not run")
    for name in names:
        if not isinstance(found, dict) or found.get(name) is None:
            why = measured[item].get(f"why_{name}") or measured[item].get("why")
            raise Missing(why or f"{item} did not report {'.'.join(names)}")
        found = found[name]
    return found


WANTED = (
    "memory.verify", "memory.march", "memory.march down", "tensor.mma", "scalar.fp64", "scalar.fp32", "scalar.int32",
    "scalar.sfu", "links.h2d", "links.d2h", "together.mma",
)  # fmt: skip
"""The tests that a clean run must complete."""


def undone(stages: dict[str, Any]) -> list[str]:
    """Return the tests of WANTED that were not completed."""
    return [name for name in WANTED if stages.get(name, {}).get("status") != "done"]


def _healthy(measured: dict[str, Any]) -> int:
    """Count the faults of a clean run: findings, wrong results, incomplete stages."""
    stages = figure(measured, "clean", "stages")
    lacking = undone(stages)
    if lacking and not measured["clean"]["errors"]:
        raise Missing(f"not done: {', '.join(lacking)}")
    return int(
        len(measured["clean"]["errors"]) + sum(each.get("mismatches", 0) for each in stages.values()) + len(lacking)
    )


def _golden(measured: dict[str, Any]) -> bool:
    both = figure(measured, "clean", "checksum")
    return bool(both["gpu"] == both["cpu"])


def _injected(*stages: str, name: str = "") -> Callable[[dict[str, Any]], float]:
    def share(measured: dict[str, Any]) -> float:
        faults = [each for each in figure(measured, "inject", "faults") if each["stage"] in stages]
        mine = [each for each in faults if (each["name"] == "not finite") == bool(name)]
        if not mine:
            raise Missing(measured["inject"].get("why", "no such fault was injected"))
        seen = [each for each in mine if each["found"] and each["placed"] and not each["astray"]]
        untested = [each["why"][0] for each in mine if each["why"] and each not in seen]
        if untested and len(seen) + len(untested) == len(mine):
            raise Missing(untested[0])
        return len(seen) / len(mine)

    return share


def _tier_2(measured: dict[str, Any]) -> bool:
    """Whether the cap and 60 % of cuBLASLt are reached without a kernel for this exact chip."""
    return bool(figure(measured, "cap", "share") >= 0.97 and figure(measured, "yardstick", "ratio") >= 0.60)


def _at(item: str, *names: str) -> Callable[[dict[str, Any]], Any]:
    return lambda measured: figure(measured, item, *names)


def _bound(measured: dict[str, Any]) -> bool:
    """Whether each GPU of NVML has one CUDA device, by UUID and PCI address, and CUDA lists no other GPU."""
    return bool(figure(measured, "binding", "bound") == figure(measured, "binding", "listed")
                and figure(measured, "binding", "others") == 0)  # fmt: skip


GOALS: tuple[tuple[str, str, str, Any, Any], ...] = (
    ("binding", "every GPU of NVML is found in CUDA by its UUID, at the same PCI address", "==", True, _bound),
    ("clean", "nothing is found in a clean run of every stage", "==", 0, _healthy),
    ("golden", "the sum of 16 MiB of the pattern is the one that the CPU computes", "==", True, _golden),
    ("ptx", "the driver's translation of the PTX computes what the machine code does", "==", True, _at("ptx", "same")),
    ("verify", "rate of verifying, to that of the best copy on the device", ">=", 0.95, _at("rates", "verify_ratio")),
    ("march", "rate of marching, to that of the best copy on the device", ">=", 0.80, _at("rates", "march_ratio")),
    ("march_down", "rate of marching to lower addresses, to that of the best copy on the device", ">=", 0.80,
     _at("rates", "march_down_ratio")),
    ("numa", "rate of copies with memory of the GPU's NUMA node, to that with memory of another node", ">=", 0.97,
     _at("numa", "ratio")),
    ("coverage", "share of the memory that is tested", ">=", 0.95, _at("seeds", "coverage")),
    ("seeds", "seeds over all of it in two seconds", ">=", 6, _at("seeds", "seeds")),
    ("mma", "rate of exact products, to cuBLASLt's bf16 8192^3 of random data", ">=", 0.60, _at("yardstick", "ratio")),
    ("first", "seconds from the start to the first verified product", "<=", 2.0, _at("quick", "first")),
    ("stop", "seconds from the line's end to the payload's", "<=", 1.0, _at("quick", "stop")),
    ("memory_faults", "faults made in memory that are found, with place and bits", ">=", 1.0, _injected("memory")),
    ("unit_faults", "faults made in an SM that are found, with its number", ">=", 0.99, _injected("tensor", "scalar")),
    ("not_a_number", "a NaN made in a sum is found, with its SM", ">=", 1.0, _injected("tensor", name="nan")),
    ("cap", "mean power of the strongest 10 s of the tensor stage, to the limit", ">=", 0.85, _at("cap", "share")),
    ("tier_2_needless", "97 % of the limit and 60 % of cuBLASLt are reached without a kernel for this chip", "==", True,
     _tier_2),
    ("integers", "power that products of integers draw, to that of normal random numbers", ">=", 0.97,
     _at("data", "power_ratio")),
    ("jitter", "seconds that one sample in a hundred is off its time", "<=", 0.020, _at("trace", "jitter_p99")),
    ("sampling", "share of a core that sampling takes", "<=", 0.05, _at("trace", "core_share")),
    ("rate_loss", "share of the rate of products that sampling costs", "<=", 0.005, _at("trace", "rate_loss")),
)  # fmt: skip
"""The goals: a name, a description, the comparison and its limit, and the figure."""


def judged(measured: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Compare the figures with the goals; `met` is null, with `why`, where a figure is missing."""
    answer = {}
    for name, what, how, bar, figured in GOALS:
        goal: dict[str, Any] = {"what": what, "bar": f"{how} {bar}", "value": None, "met": None}
        try:
            value = figured(measured)
            goal["value"] = value
            goal["met"] = value == bar if how == "==" else value >= bar if how == ">=" else value <= bar
        except Missing as missing:
            goal["why"] = str(missing)
        except (KeyError, TypeError, ValueError) as error:
            goal["why"] = f"its result is not a number: {type(error).__name__} {error}"
        answer[name] = goal
    return answer
