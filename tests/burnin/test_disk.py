"""The scratch file of a burn-in: a real file on a real disk, read back past the cache, and removed afterwards."""

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from burn_racks import tree
from payloads import plan, start

from rackcheck.burnin.node.disk import DISK_BLOCK, DISK_SECTOR, DiskWork
from rackcheck.model.capture import BurnCapture

Records = list[dict[str, Any]]


def work(path: Path, blocks: int = 4, seed: int = 5) -> Records:
    rows: Records = []
    began = time.monotonic()

    def clock() -> float:
        return time.monotonic() - began

    DiskWork(lambda kind, **more: rows.append({"k": kind, **more}), clock, threading.Event(), str(path), seed).run(
        blocks * DISK_BLOCK, 30.0
    )
    if any("direct I/O" in record.get("why", "") for record in rows):
        pytest.skip(f"the filesystem of {path.parent} does not support direct I/O")
    return rows


def test_a_sound_disk_reads_back_what_was_written_and_the_file_is_gone(tmp_path: Path) -> None:
    rows = work(tmp_path / "scratch")
    assert [(r["test"], r["status"], r["work"]) for r in rows] == [
        ("write", "done", 4 * DISK_BLOCK), ("read", "done", 4 * DISK_BLOCK),
    ]  # fmt: skip
    assert rows[1]["mismatches"] == 0
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    rows = work(tmp_path / "mine")
    assert [(r["status"], r["why"]) for r in rows] == [
        ("not tested", "denied: a file of that name exists; it was not changed")
    ]
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_folder_that_is_not_there_is_not_tested(tmp_path: Path) -> None:
    assert work(tmp_path / "none" / "scratch")[0]["why"] == "denied: No such file or directory"


@pytest.mark.parametrize(
    ("offset", "name", "address", "other"),
    [(DISK_BLOCK + 5 * DISK_SECTOR + 2000, "mismatch", DISK_BLOCK + 5 * DISK_SECTOR + 2000, None),
     (2 * DISK_BLOCK, "alias", 2 * DISK_BLOCK, 3 * DISK_SECTOR)],
)  # fmt: skip
def test_what_a_disk_changes_is_found_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offset: int, name: str, address: int, other: int | None
) -> None:
    """The disk between writing and reading: a byte that differs, or a sector written to another's place."""
    true = os.fsync

    def spoil(file: int) -> None:
        true(file)
        with open(f"/proc/self/fd/{file}", "r+b", buffering=0) as held:  # noqa: PTH123  a descriptor, not a path
            held.seek(other or offset)
            old = held.read(DISK_SECTOR if other else 1)
            held.seek(offset)
            held.write(old if other else bytes([old[0] ^ 0x10]))
        true(file)

    monkeypatch.setattr(os, "fsync", spoil)
    rows = work(tmp_path / "scratch")
    found = [record for record in rows if record["k"] == "error"]
    assert [(e["name"], e["address"], e.get("other")) for e in found] == [(name, address, other)]
    assert rows[-1]["mismatches"] == 1


def test_a_payload_tests_the_file_that_was_named_and_no_other(tmp_path: Path) -> None:
    named = tmp_path / "scratch"
    running = start(plan(0.4, scratch={"path": str(named), "size": 3 * DISK_BLOCK}))
    running.end(40)
    facts = tree(1, 1, BurnCapture(tuple(running.records))).leaves
    key = (
        f"burnin.disk/{tmp_path.name}" if tmp_path.name.replace("_", "").isalnum() else f'burnin.disk/"{tmp_path.name}"'
    )
    assert facts[f"{key}.mismatches"].reading == 0
    assert list(tmp_path.iterdir()) == []
    assert "burnin.disk/*.mismatches" not in facts


def test_without_a_name_no_disk_is_touched(tmp_path: Path) -> None:
    running = start(plan(0.2))
    running.end(40)
    facts = tree(1, 1, BurnCapture(tuple(running.records))).leaves
    assert facts["burnin.disk"].reading == ()
