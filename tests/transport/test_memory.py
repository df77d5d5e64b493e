"""The budget for replies in flight: never exceeded, never a deadlock, and an upper bound of what parsed replies take."""

import json
import sys
import threading
from random import Random

import pytest
from waiting import until

from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.question import Shell
from rackcheck.probe.answers import split
from rackcheck.transport.memory import INTERRUPTED, LARGEST, LEAST, MIB, ORDINARY, Allowance, MemoryBudget
from rackcheck.transport.redfish.answer import parsed
from rackcheck.transport.redfish.load import VALUE, VisitUsage
from rackcheck.transport.redfish.target import Limits

NEVER = threading.Event()


def admitted(budget: MemoryBudget) -> Allowance:
    allowance = Allowance(budget, NEVER)
    assert allowance.admit() is None
    return allowance


def test_64_ordinary_replies_are_read_at_once_by_default() -> None:
    budget = MemoryBudget()
    assert [admitted(budget).granted for _ in range(64)] == [ORDINARY] * 64
    stop = threading.Event()
    stop.set()
    assert Allowance(budget, stop).admit() == INTERRUPTED, "the 65th would have to wait"


def test_a_plane_that_may_not_wait_is_admitted_only_if_there_is_room() -> None:
    budget = MemoryBudget()
    first = [admitted(budget) for _ in range(63)]
    last, more = Allowance(budget), Allowance(budget)
    assert last.try_admit()
    assert not more.try_admit()
    assert (last.granted, more.granted, budget.held) == (ORDINARY, 0, 64 * ORDINARY)
    first[0].close()
    assert more.try_admit()
    assert Allowance().try_admit(), "without a budget"


def test_a_plane_takes_no_memory_until_its_node_has_answered() -> None:
    budget = MemoryBudget()
    waiting = [Allowance(budget, NEVER) for _ in range(1000)]
    assert (budget.held, sum(allowance.granted for allowance in waiting)) == (0, 0)


def test_planes_that_wait_to_be_read_are_admitted_one_after_another_when_others_end() -> None:
    budget = MemoryBudget()
    first, inside = [admitted(budget) for _ in range(64)], list[Allowance]()

    def read() -> None:
        inside.append(admitted(budget))

    threads = [threading.Thread(target=read, daemon=True) for _ in range(64)]
    for thread in threads:
        thread.start()
    assert not inside
    first[0].close()
    until(lambda: len(inside) == 1, "no plane was admitted")
    for allowance in first[1:]:
        allowance.close()
    until(lambda: len(inside) == 64, "not all planes were admitted")


def test_a_reply_larger_than_the_reserve_is_cut_with_the_reason() -> None:
    allowance = admitted(MemoryBudget())
    assert allowance.add(LARGEST) is None
    why = allowance.add(1)
    assert why is not None
    assert (why.reason, why.detail) == (Reason.TOO_LARGE, "the reply needs more than 192 MiB of memory")


def test_a_reply_waits_until_its_deadline_if_others_hold_the_memory() -> None:
    budget = MemoryBudget(LEAST)
    first, second, third = (admitted(budget) for _ in range(3))
    assert first.add(60 * MIB - 2 * ORDINARY) is None, "from the shared memory"
    assert second.add(100 * MIB) is None, "the reserve"
    third.until = 0.0
    why = third.add(20 * MIB)
    assert why is not None
    assert why.reason is Reason.TIMEOUT
    assert why.detail == "no memory was free in time: other replies take the limit of 256 MiB"
    second.close()
    assert third.add(20 * MIB) is None, "the reserve is free again"
    assert budget.most <= budget.size


def test_many_replies_that_grow_at_once_all_end_and_never_exceed_the_budget() -> None:
    budget, over = MemoryBudget(LEAST), list[int]()

    def read(seed: int) -> None:
        random = Random(seed)
        for _ in range(6):
            allowance = admitted(budget)
            while allowance.used < LARGEST - 20 * MIB and random.random() < 0.9:
                assert allowance.add(random.randrange(1, 16 * MIB)) is None
                if budget.held > budget.size:
                    over.append(budget.held)
            allowance.close()

    threads = [threading.Thread(target=read, args=(seed,), daemon=True) for seed in range(24)]
    for thread in threads:
        thread.start()
    until(lambda: not any(thread.is_alive() for thread in threads), "the replies wait for each other")
    assert not over
    assert budget.held == 0
    assert budget.most <= budget.size


def test_an_interrupt_ends_the_wait_for_memory() -> None:
    budget, stop = MemoryBudget(LEAST), threading.Event()
    first = admitted(budget)
    assert first.add(150 * MIB) is None
    second, third = Allowance(budget, stop), Allowance(budget, stop)
    assert (second.admit(), third.admit()) == (None, None)
    assert second.add(40 * MIB) is None
    stop.set()
    why = third.add(60 * MIB)
    assert why is not None
    assert why.detail == "interrupted"


def deep(value: object) -> int:
    """Return the bytes that a parsed body takes, with the headers of the garbage collector; shared names count once."""
    seen: set[int] = set()

    def size(each: object) -> int:
        if id(each) in seen:
            return 0
        seen.add(id(each))
        own = sys.getsizeof(each) + (16 if isinstance(each, dict | list) else 0)
        if isinstance(each, dict):
            return own + sum(size(name) + size(inner) for name, inner in each.items())
        return own + sum(map(size, each)) if isinstance(each, list) else own

    return size(value)


BODIES = {
    "letters": {"a": "x" * 100_000},
    "one sign outside the BMP": {"a": "x" * 100_000 + "\U0001f4be"},
    "one umlaut in a long text": {"a": "x" * 100_000 + "\u0142"},
    "numbers": {"a": [n + 0.5 for n in range(5000)]},
    "large numbers": {"a": [10**15 + n for n in range(5000)]},
    "short texts": {"a": [f"{n:05}" for n in range(5000)]},
    "objects of one property": {"a": [{f"n{n}": n} for n in range(5000)]},
    "empty objects": {"a": [{} for _ in range(5000)]},
    "empty lists": {"a": [[] for _ in range(5000)]},
    "names": {f"name {n}": f"value {n}" for n in range(5000)},
    "short names outside ASCII": {"\u0142" + str(n): "\U0001f4be" for n in range(5000)},
    "deep": {"a": [[[[{"b": [[{"c": n}]]}]]] for n in range(500)]},
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_the_memory_of_a_body_is_never_estimated_too_low(name: str, *, ascii_only: bool) -> None:
    data = json.dumps(BODIES[name], ensure_ascii=ascii_only).encode()
    usage = VisitUsage(Limits())
    with usage.parsing(data) as why:
        assert why is None
        body = parsed(data)
    assert deep(body) <= usage.allowance.used


def test_the_estimate_of_values_is_needed() -> None:
    data = json.dumps(BODIES["objects of one property"]).encode()
    assert deep(parsed(data)) > 4 * len(data), "the bytes on the network are no bound"
    assert VALUE > 4


def test_an_answer_without_memory_is_unknown_and_the_others_are_read() -> None:
    questions, mark = [Shell("first"), Shell("second")], "0" * 31 + "1"
    frames = (f"\n{mark}<{n}\n{'x' * 1000}{mark}:0={mark}.{mark};" for n in range(2))
    raw = ("".join(frames) + f"\n{mark}>2\n").encode()
    allowance = admitted(MemoryBudget())
    assert allowance.add(LARGEST - 4000) is None
    found = split(raw, questions, mark, Unknown(Reason.UNREACHABLE), allowance.add)
    first, second = (found.capture.output(question) for question in questions)
    assert getattr(first, "out", None) == "x" * 1000
    assert getattr(second, "reason", None) is Reason.TOO_LARGE
