"""Which tests run when: by the cost of each, from durations.json.

`quick` runs cheap tests, for every change; `test` more of them; `full` the rest. A property
that costs more than its tier allows runs there on few cases, and on all of them in `full`. Without a tier (`make all`),
a property that costs more than the bound of `test` runs on a third of its cases: these took a tenth of the time of all
tests. With a share (`make all SHARE=2/3`), of the tests that cost more than DEAR only those of this share run. `make
durations` measures again; a test that it has not measured is quick.
"""

import json
import os
import resource
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import depth
import pytest
from depth import DEEP
from hypothesis import is_hypothesis_test, settings
from places import TESTS

TIERS = ("quick", "test", "full")
BOUNDS = {"quick": 0.05, "test": 0.5}
"""Greatest cost of a test of a tier in seconds: CPU time with child processes, or wall time, whichever is more."""

DEAR = 1.0
"""Cost in seconds of a test from which on CI runs only a share of them for each change: these took 70 % of the time."""

UNMEASURED = 0.02
"""Assumed cost in seconds of a test that is in no tier above `quick`, or that was not measured."""

FEW = 10
"""Cases of a property that costs more than its tier allows."""

DURATIONS = TESTS / "durations.json"


def costs() -> dict[str, float]:
    """Return the seconds of the tests that are not quick, by their ids."""
    known = json.loads(DURATIONS.read_text("utf-8")) if DURATIONS.is_file() else {}
    assert isinstance(known, dict)
    return known


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select the tests of the chosen tier; each test is in one of `test` and `full`, or, on few cases, in both."""
    tier, known = config.getoption("--tier"), costs()
    if tier is None:
        if not (DEEP or os.environ.get("RACKCHECK_EXPLORE") or config.getoption("--measure")):
            # One function has the same number of cases for all of its parameters.
            dear = {_function(item): item for item in items if known.get(item.nodeid, 0.0) > BOUNDS["test"]}
            for item in dear.values():
                if not _searches(item):
                    _on_few_cases(item, part=3)
        if share := config.getoption("--share"):
            _keep(config, items, [item for item in items if _in_share(item, known.get(item.nodeid, 0.0), *share)])
        return
    kept = []
    for item in items:
        cost = known.get(item.nodeid, 0.0)
        slow = item.get_closest_marker("slow") is not None
        if tier == "full":
            mine = slow or cost > BOUNDS["test"] or _searches(item)
        else:
            mine = not slow and (cost <= BOUNDS[tier] or _on_few_cases(item))
        if mine:
            kept.append(item)
    _keep(config, items, kept)


def _keep(config: pytest.Config, items: list[pytest.Item], kept: list[pytest.Item]) -> None:
    mine = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in mine])
    items[:] = kept


def share(text: str) -> tuple[int, int]:
    """Return the number of a share and the number of shares: (2, 3) for `2/3`; raises ValueError for other texts."""
    number, slash, count = text.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise ValueError(f"{text!r} is no share: 2/3 is the second of three")
    return int(number), int(count)


def _in_share(item: pytest.Item, cost: float, number: int, count: int) -> bool:
    """Whether a test is in a share: the cases of a function are spread over all shares."""
    if cost <= DEAR or item.get_closest_marker("landing") is not None:
        return True
    return crc32(item.nodeid.encode()) % count == number - 1


def longest_first(items: list[pytest.Item]) -> None:
    """Sort the modules by their cost, the most expensive first.

    A long module that began last would run alone at the end.
    """
    known, total = costs(), dict[str, float]()
    for item in items:
        module = item.nodeid.partition("::")[0]
        total[module] = total.get(module, 0.0) + known.get(item.nodeid, UNMEASURED)
    items.sort(key=lambda item: -total[item.nodeid.partition("::")[0]])


def _function(item: pytest.Item) -> object:
    function: Any = getattr(item, "obj", item)
    return getattr(function, "__func__", function)


def _searches(item: pytest.Item) -> bool:
    """Whether the module of a test has searches that only `full` makes whole (`depth`)."""
    return getattr(getattr(item, "module", None), "depth", None) is depth


def _on_few_cases(item: pytest.Item, part: int = 0) -> bool:
    """Limit the cases of a property to `FEW`, or to a part of them that is no less; return whether it is one."""
    function: Any = getattr(item, "obj", None)
    if not is_hypothesis_test(function):
        return False
    inner = getattr(function, "__func__", function)
    own: settings = inner._hypothesis_internal_use_settings or settings()
    most = max(FEW, -(-own.max_examples // part)) if part else FEW
    inner._hypothesis_internal_use_settings = settings(own, max_examples=min(own.max_examples, most))
    return True


class Measuring:
    """Measures the cost of each test, in whichever process it runs, and writes it where pytest was started.

    A shared fixture counts for each of its tests, as whichever of them runs first pays for it.
    """

    def __init__(self) -> None:
        self._found: dict[str, float] = {}
        self._shared: dict[pytest.FixtureDef[Any], Spent] = {}
        self._before = self._within = NOTHING

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        self._before, self._within = spent(), NOTHING

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        before, within = spent(), self._within
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                own = spent() - before - (self._within - within)
                self._shared[fixturedef] = max(own, self._shared.get(fixturedef, NOTHING))
                self._within = self._within + own

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "teardown":
            whole = spent() - self._before - self._within
            for each in _used_by(item):
                whole = whole + self._shared.get(each, NOTHING)
            report.user_properties.append((COST, max(whole.cpu, whole.clock)))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            cost = dict(report.user_properties)[COST]
            assert isinstance(cost, float)
            self._found[report.nodeid] = cost

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workerinput"):
            return
        whole = session.config.getoption("--tier") is None and not session.config.option.file_or_dir
        kept = {} if whole else {test: cost for test, cost in costs().items() if test not in self._found}
        kept |= {test: round(cost, 2) for test, cost in self._found.items() if cost > BOUNDS["quick"]}
        DURATIONS.write_text(json.dumps(dict(sorted(kept.items())), indent=0) + "\n", "utf-8")


def _used_by(item: pytest.Item) -> set[pytest.FixtureDef[Any]]:
    """Return the fixtures that a test uses."""
    known: Any = getattr(item, "_fixtureinfo", None)
    return set() if known is None else {found[-1] for found in known.name2fixturedefs.values() if found}


COST = "seconds"


@dataclass(frozen=True, order=True, slots=True)
class Spent:
    """CPU seconds of this process and of its ended child processes, and wall time."""

    cpu: float
    clock: float

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.cpu + other.cpu, self.clock + other.clock)

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(self.cpu - other.cpu, self.clock - other.clock)


NOTHING = Spent(0.0, 0.0)


def spent() -> Spent:
    """Return what was spent so far."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return Spent(sum(each.ru_utime + each.ru_stime for each in used), time.monotonic())
