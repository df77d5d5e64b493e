"""The output of `amd-smi static --json`: one JSON object for each GPU.

Up to ROCm 6 the output is a list of these objects; since amd-smi 26, it is an object whose `gpu_data` is that list. A
value is a number, a text, or `{"value": 550, "unit": "W"}`; amd-smi prints `N/A` for a value that the GPU does not
report.
"""

from collections.abc import Mapping
from typing import Any

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.regex import regex
from rackcheck.model.text import json_text

MOST = 256
"""Maximum number of GPUs read from one node; a partitioned MI300X counts as eight."""

_ADDRESS = regex(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


def gpus(answer: str) -> list[Mapping[str, Any]]:
    """Return the JSON object of each GPU; raises Unreadable if the output is not a list of GPUs, or lists too many."""
    try:
        found = json_text.loaded(answer)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"not JSON: {clean(answer, 80)!r}") from error
    if isinstance(found, dict):
        found = found.get("gpu_data")
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise Unreadable(f"not a list of GPUs: {clean(answer, 80)!r}")
    if len(found) > MOST:
        raise Unreadable(f"{len(found)} GPUs; at most {MOST} are read")
    return [one for one in found if "gpu" in one]


def value_at(gpu: Mapping[str, Any], *path: str) -> Reading:
    """Return the text or number at a path of names in a GPU's object; absent if amd-smi does not report it.

    A value that is neither a text nor a number is Unknown.
    """
    value: Any = gpu
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, dict) and "value" in value:
        value = value["value"]
    if value is None or value in ("N/A", ""):
        return Absent("amd-smi does not report it")
    if isinstance(value, bool) or not isinstance(value, int | str):
        return Unknown(Reason.UNPARSABLE, f"{'.'.join(path)} is neither a text nor a number")
    return value


def by_address(answer: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return each GPU's PCI address, in the kernel's spelling, and its object; raises Unreadable without an address.

    amd-smi lists each partition of a GPU as a GPU of its own, with the partition's number as the last digit of the
    address. If the first partition of a GPU is listed, its other partitions are left out.
    """
    if not answer.endswith("\n"):
        raise Unreadable("the output was truncated")
    found = [(str(value_at(gpu, "bus", "bdf")).lower(), gpu) for gpu in gpus(answer)]
    if not all(_ADDRESS.fullmatch(address) for address, _ in found):
        raise Unreadable("a GPU has no PCI address")
    firsts = {address for address, _ in found if address.endswith(".0")}
    return [(a, gpu) for a, gpu in found if a.endswith(".0") or f"{a[:-1]}0" not in firsts]


def text(gpu: Mapping[str, Any], *path: str) -> Reading:
    """Return the text at a path of names in a GPU's object; a number at this path is returned as text."""
    reading = value_at(gpu, *path)
    return str(reading) if isinstance(reading, int) else reading


def number(gpu: Mapping[str, Any], *path: str) -> Reading:
    """Return the number at a path of names in a GPU's object; a text at this path is Unknown."""
    reading = value_at(gpu, *path)
    return Unknown(Reason.UNPARSABLE, f"not a number: {reading[:80]!r}") if isinstance(reading, str) else reading


def enabled(gpu: Mapping[str, Any]) -> Reading:
    """Return the GPU's blocks whose ECC state is ENABLED, in lower case; absent if amd-smi reports no ECC states."""
    states = gpu.get("ras")
    blocks = states.get("ecc_block_state") if isinstance(states, dict) else None
    if not isinstance(blocks, dict) or not all(isinstance(word, str) for word in blocks.values()):
        return Absent("amd-smi does not report it")
    return tuple(sorted(block.lower() for block, word in blocks.items() if word == "ENABLED"))


def policy(gpu: Mapping[str, Any], name: str, items: str) -> Reading:
    """Return the description of the policy whose `policy_id` is the `current_id`; absent if there is no such policy."""
    table = gpu.get(name)
    match table:
        case {"current_id": int(current), **rest}:
            options = rest.get(items)
            for option in options if isinstance(options, list) else ():
                match option:
                    case {"policy_id": int(number), "policy_description": str(word)} if number == current and word:
                        return word
    return Absent("amd-smi does not report it")
