"""The tables of the fact base, and the rows that shipped rules cite."""

import csv
import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest
from places import SHARED, TESTS

from rackcheck.model.profile import Profile, Rule
from rackcheck.probe.registry import registry
from rackcheck.profile import library

TABLES = {
    "systems": "id",
    "sbios": "id",
    "os_tunables": "id",
    "software_firmware": "id",
    "gpu_state": "id",
    "network": "id",
    "performance_floors": "id",
    "xid": "xid",
}
"""Tables of the base, and the column that names a row."""


HERE = TESTS / "fact_rows"


COLUMNS = ("row", "profiles", "rule", "reason", "note")


SHIPPED = sorted(name for name, found in library.profiles().items() if found.origin == "shipped")


Row = Mapping[str, str]


def base(table: str) -> Sequence[Row]:
    """The rows of a table; without the base the test is skipped, and fails in CI."""
    home = os.environ.get("RACKCHECK_RECORDINGS") or SHARED
    place = Path(home) / "facts" / f"{table}.csv"
    if not place.exists():
        message = f"no facts at {place}: set RACKCHECK_RECORDINGS to the folder that holds facts"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    with place.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def covered(table: str) -> Sequence[Row]:
    """Our record for a table's rows."""
    with (HERE / f"{table}.csv").open(encoding="utf-8", newline="") as opened:
        reader = csv.DictReader(opened)
        assert tuple(reader.fieldnames or ()) == COLUMNS
        return list(reader)


@cache
def profile(name: str) -> Profile:
    return library.load(name, registry().catalogue)


@cache
def rules(name: str) -> Mapping[str, Rule]:
    """A profile's rules by id; none where no such profile is shipped."""
    return {rule.id: rule for rule in profile(name).own} if name in SHIPPED else {}


def cited(row: Row) -> list[Rule]:
    """The rules that a row names, in each of its profiles that has them."""
    return [
        rules(name)[rule] for name in row["profiles"].split() for rule in row["rule"].split() if rule in rules(name)
    ]
