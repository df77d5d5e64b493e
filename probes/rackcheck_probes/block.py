"""Every block device and how the kernel treats it."""

import re
from collections.abc import Callable

from rackcheck import (
    Class,
    Facts,
    Files,
    Read,
    Unreadable,
    collection,
    flag,
    integer,
    probe,
    quantity,
    spell_key,
    text,
)
from rackcheck.core import read
from rackcheck.core.fact import Value
from rackcheck_probes.nvme_namespaces import gib

FOLDER = "/sys/block/{}"
NAMES = (
    "size", "ro", "device/model", "device/state",
    *(f"queue/{name}" for name in ("scheduler", "read_ahead_kb", "rotational", "nr_requests", "max_sectors_kb",
                                   "wbt_lat_usec", "write_cache", "io_timeout")),
)  # fmt: skip
NO_DISK = re.compile(r"(loop|ram|zram|sr|fd|nbd)[0-9]+")
"""Devices that are files, memory or doors: their number says nothing of the machine."""


def plain(content: str) -> Value:
    """Read a whole number as a quantity."""
    return float(read.whole(content))


def scheduler(content: str) -> str:
    """Give the bracketed word of `[none] mq-deadline`; a device without a choice has one word, and no brackets."""
    word = read.line(content)
    return word if re.fullmatch(r"[a-z-]{1,30}", word) else read.chosen(content)


def positive(content: str) -> int:
    """Read a number that is at least one."""
    number = read.whole(content)
    if number < 1:
        raise Unreadable(f"not a number of requests: {number}")
    return number


READERS: dict[str, tuple[str, Callable[[str], Value]]] = {
    "size": ("size", gib),
    "read_only": ("ro", read.bit),
    "model": ("device/model", read.line),
    "state": ("device/state", read.line),
    "scheduler": ("queue/scheduler", scheduler),
    "read_ahead": ("queue/read_ahead_kb", plain),
    "rotational": ("queue/rotational", read.bit),
    "requests": ("queue/nr_requests", positive),
    "request_size": ("queue/max_sectors_kb", plain),
    "write_throttle": ("queue/wbt_lat_usec", plain),
    "write_cache": ("queue/write_cache", read.line),
    "timeout": ("queue/io_timeout", plain),
}


@probe(
    Read(*(f"{FOLDER.format('*')}/{name}" for name in NAMES), seconds=20, cap=4 << 20),
    gives={
        "storage.device": collection("Block devices by the kernel's name, without loop, RAM and optical ones."),
        "storage.device/*.size": quantity("GiB", "The device's size."),
        "storage.device/*.read_only": flag("Whether it cannot be written."),
        "storage.device/*.model": text("The drive's model; absent on devices that are made of others.", Class.IDENTITY),
        "storage.device/*.state": text("What its driver says of it: running, live, offline; absent if it has no word."),
        "storage.device/*.scheduler": text("How requests are ordered: none, mq-deadline, bfq, kyber."),
        "storage.device/*.read_ahead": quantity("KiB", "How far the kernel reads ahead."),
        "storage.device/*.rotational": flag("Whether the kernel takes it for a disk that turns."),
        "storage.device/*.requests": integer("Requests that may wait in each of its queues."),
        "storage.device/*.request_size": quantity("KiB", "The largest request that the kernel sends it."),
        "storage.device/*.write_throttle": quantity(
            "us", "The latency that throttled writing aims at; 0 is off, absent where the kernel cannot."
        ),
        "storage.device/*.write_cache": text("write back where it has a volatile cache, else write through."),
        "storage.device/*.timeout": quantity("ms", "How long a request may take; absent on kernels that do not tell."),
    },
)
def block(files: Files) -> Facts:
    """Read each device's queue."""
    found = {name for file in NAMES for (name,) in files.found(f"{FOLDER.format('*')}/{file}")}
    for name in sorted(found, key=read.natural):
        if not NO_DISK.fullmatch(name):
            for leaf, (file, reader) in READERS.items():
                told = files.read(f"{FOLDER.format(name)}/{file}", reader)
                yield f"storage.device/{spell_key(name)}.{leaf}", told
