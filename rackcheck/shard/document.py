"""A shard: the nodes of a plan that one process asks, and what it asks them; a JSON file without secrets.

The file has references to secrets (`env:NAME`, `file:PATH`), as an inventory has; they are resolved where it is asked.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from rackcheck.base import safe_read
from rackcheck.base.user_error import UserError
from rackcheck.inventory import NODES, AskLimit, BmcAccess, Node, Ssh
from rackcheck.model.fact import Plane
from rackcheck.probe import script
from rackcheck.probe.plan import Plan

FORMAT = 1

LARGEST = 64 << 20
"""Maximum size of a shard's file, in bytes."""

WATTS, SEEDS = 1_000_000_000, 2**31 - 1
"""The greatest power in watts, and the greatest seed."""

WRONG = (LookupError, TypeError, ValueError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class BurnPart:
    """What a shard of a burn-in does: tier, seed, tools, and whether GPUs take part.

    `watts` is the power of each node. The limits are the shard's part of those of the burn-in, in watts: `rate` added
    per second, `total` for all nodes, `racks` and `pdus`; `apart` is the minimum time between two starts in seconds.
    """

    tier: str
    seed: int
    tools: tuple[str, ...]
    gpus: bool
    watts: Mapping[str, int]
    rate: int
    apart: float
    total: int | None = None
    racks: Mapping[str, int] = field(default_factory=dict)
    pdus: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of a plan.

    `plan` is the digest of the plan, `questions` the digest of what is asked, `facts` and `spare` the paths from which
    the questions follow. `reach` names what the shard's nodes share: a rack, a jump host, or nothing. `again` is the
    time between two readings, and the facts of the second one. `seconds` limits one plane, `deadline` the whole shard.
    `limits` are the inventory's limits of how many of the nodes are asked at the same time. With `burn`, the shard puts
    its nodes under load, at most once. With `inband`, it is asked on its only node, without SSH.
    """

    plan: str
    run: str
    number: int
    count: int
    version: str
    questions: str
    facts: tuple[str, ...]
    spare: tuple[str, ...]
    planes: frozenset[Plane]
    nodes: tuple[Node, ...]
    reach: str = ""
    again: tuple[float, tuple[str, ...]] | None = None
    seconds: float | None = None
    deadline: float | None = None
    limits: tuple[AskLimit, ...] = ()
    burn: BurnPart | None = None
    inband: bool = False

    @property
    def name(self) -> str:
        """The name of the shard's files: its number, with as many digits as the last one."""
        return f"{self.number:0{len(str(self.count))}}"


def text(shard: Shard) -> str:
    """Return the file of a shard; equal shards give equal texts."""
    doc = asdict(shard)
    doc |= {"planes": sorted(shard.planes), "nodes": [_node_json(node) for node in shard.nodes]}
    doc["limits"] = [
        {"name": limit.name, "nodes": sorted(limit.nodes), "most": {p.value: n for p, n in sorted(limit.most.items())}}
        for limit in shard.limits
    ]
    return json.dumps({"rackcheck-shard": FORMAT, **doc}, indent=1, ensure_ascii=True) + "\n"


def _node_json(node: Node) -> dict[str, Any]:
    return {name: value for name, value in asdict(node).items() if value not in ("", None)}


def load(path: Path) -> Shard:
    """Read a shard; raises UserError if it cannot be read, or is not a shard of this release."""
    try:
        doc = json.loads(safe_read.text(path, LARGEST))
    except (ValueError, RecursionError) as error:
        raise UserError(f"cannot read {path}: {error}") from None
    if not isinstance(doc, dict) or doc.get("rackcheck-shard") != FORMAT:
        raise UserError(f"{path} is not a shard of format {FORMAT}: rackcheck plan makes shards")
    try:
        return _shard(doc)
    except WRONG as error:
        raise UserError(f"{path} is damaged: {error!r:.200}") from None


def _shard(doc: Mapping[str, Any]) -> Shard:
    nodes = doc["nodes"]
    if not isinstance(nodes, list) or not 0 < len(nodes) <= NODES:
        raise TypeError(f"`nodes` is not a list of 1 to {NODES} nodes")
    again = doc.get("again")
    built = tuple(map(_node, nodes))
    burn = _burn(doc["burn"]) if doc.get("burn") is not None else None
    if burn is not None and not {node.name for node in built if node.host} <= burn.watts.keys():
        raise ValueError("a node without its power")
    return Shard(
        digest(doc, "plan"), _word(doc, "run"), _count(doc, "number"), _count(doc, "count"), _word(doc, "version"),
        digest(doc, "questions"), _words(doc, "facts"), _words(doc, "spare"), frozenset(map(Plane, doc["planes"])),
        built, _word(doc, "reach"),
        (_seconds(again[0]), tuple(map(str, again[1]))) if again is not None else None,
        _seconds(doc["seconds"]) if doc.get("seconds") is not None else None,
        _seconds(doc["deadline"]) if doc.get("deadline") is not None else None,
        tuple(
            AskLimit(
                _word(each, "name"), frozenset(_words(each, "nodes")),
                {Plane(plane): _count(each["most"], plane) for plane in each["most"]},
            )
            for each in doc["limits"]
        ),
        burn, _inband(doc, built),
    )  # fmt: skip


def _inband(doc: Mapping[str, Any], nodes: Sequence[Node]) -> bool:
    value = doc.get("inband", False)
    if not isinstance(value, bool) or (value and len(nodes) != 1):
        raise ValueError(f"inband is not true or false, or there are several nodes: {value!r:.80}")
    return value


def _burn(doc: Mapping[str, Any]) -> BurnPart:
    if not isinstance(doc["gpus"], bool):
        raise TypeError(f"gpus is not true or false: {doc['gpus']!r:.80}")
    return BurnPart(
        _word(doc, "tier"), _whole(doc["seed"], SEEDS), _words(doc, "tools"), doc["gpus"], _watts(doc["watts"]),
        _whole(doc["rate"]), _seconds(doc["apart"]), _whole(doc["total"]) if doc.get("total") is not None else None,
        _watts(doc["racks"]), _watts(doc["pdus"]),
    )  # fmt: skip


def _watts(doc: Mapping[str, Any]) -> dict[str, int]:
    return {name: _whole(watts) for name, watts in doc.items()}


def _whole(value: Any, most: int = WATTS) -> int:
    if type(value) is not int or not 1 <= value <= most:
        raise TypeError(f"not a number from 1 to {most}: {value!r:.80}")
    return value


def digest(doc: Mapping[str, Any], name: str) -> str:
    """Return the SHA-256 at a key of a JSON object, in hexadecimal; raises ValueError or TypeError if it is none."""
    value = _word(doc, name)
    if not re.fullmatch(r"[0-9a-f]{64}", value):
        raise ValueError(f"{name} is not a digest: {value!r:.80}")
    return value


def _word(doc: Mapping[str, Any], name: str) -> str:
    value = doc[name]
    if not isinstance(value, str):
        raise TypeError(f"{name} is not a text: {value!r:.80}")
    return value


def _words(doc: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = doc[name]
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise TypeError(f"{name} is not a list of texts")
    return tuple(value)


def _count(doc: Mapping[str, Any], name: str) -> int:
    value = doc[name]
    if type(value) is not int or not 1 <= value <= NODES:
        raise TypeError(f"{name} is not a number from 1 to {NODES}: {value!r:.80}")
    return value


def _seconds(value: Any) -> float:
    if type(value) not in (int, float) or not 0 < value < 1e7:
        raise TypeError(f"not a number of seconds: {value!r:.80}")
    return float(value)


def _node(doc: Mapping[str, Any]) -> Node:
    """Build a node from its JSON object, whose values must have the types of its fields."""
    inner = {"ssh": Ssh, "bmc": BmcAccess}
    given = {name: _typed(inner[name], value) if name in inner else value for name, value in doc.items()}
    node: Node = _typed(Node, given)
    if not node.name or not (node.host or node.bmc):
        raise ValueError(f"a node without a name or an address: {node.name!r:.80}")
    return node


def _typed(kind: type[Any], values: Mapping[str, Any]) -> Any:
    """Build a dataclass whose fields are texts, numbers, truths or already built."""
    known = {each.name: each for each in fields(kind)}
    for name, value in values.items():
        wanted = type(known[name].default) if isinstance(known[name].default, str | int | bool) else None
        if name in {"name", "url"}:
            wanted = str
        if wanted is not None and type(value) is not wanted:
            raise TypeError(f"{name} is not of the type {wanted.__name__}: {value!r:.80}")
    return kind(**values)


def questions_of(plan: Plan, again: Plan | None) -> str:
    """Return a digest of everything that a plan asks; another release of rackcheck may ask something else."""
    parts: list[str] = []
    for each in (plan, again):
        if each is not None:
            parts += [script.compose(each.questions, "0" * 32, sudo=sudo) for sudo in (True, False)]
            parts += ["\n".join(map(str, each.links)), "\n".join(map(str, each.whole_links))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
