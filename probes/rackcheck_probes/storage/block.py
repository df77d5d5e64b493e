"""Every block device and its queue settings."""

from collections.abc import Callable

from rackcheck import Class, Facts, Files, Read, collection, flag, integer, probe, quantity, read, spell_key, text
from rackcheck.model.catalogue import Kind
from rackcheck.model.fact import Value
from rackcheck.parse.host.storage import block_queue

FOLDER = "/sys/block/{}"
ITEM = "storage.device"
LEAVES: dict[str, tuple[str, Callable[[str], Value], Kind]] = {
    "size": ("size", block_queue.gibibytes, quantity("GiB", "The device's size.")),
    "read_only": ("ro", read.bit, flag("Whether the device is read-only.")),
    "model": ("device/model", read.line, text(
        "The drive's model; absent on devices built from others.", Class.IDENTITY)),
    "state": ("device/state", read.line, text(
        "The device's state, as its driver reports it: running, live, offline; absent if not reported.")),
    "scheduler": ("queue/scheduler", block_queue.scheduler, text(
        "The scheduler that orders requests: none, mq-deadline, bfq, kyber.")),
    "read_ahead": ("queue/read_ahead_kb", block_queue.amount, quantity("KiB", "How far the kernel reads ahead.")),
    "rotational": ("queue/rotational", read.bit, flag("Whether the kernel treats the device as a rotating disk.")),
    "requests": ("queue/nr_requests", block_queue.requests, integer(
        "Requests that may wait in each queue of the device.")),
    "request_size": ("queue/max_sectors_kb", block_queue.amount, quantity(
        "KiB", "The largest request that the kernel sends to the device.")),
    "write_throttle": ("queue/wbt_lat_usec", block_queue.amount, quantity(
        "us", "The target latency of write throttling; 0 is off, absent if unsupported.")),
    "write_cache": ("queue/write_cache", read.line, text(
        "write back if the device has a volatile cache, else write through.")),
    "timeout": ("queue/io_timeout", block_queue.amount, quantity(
        "ms", "How long a request may take; absent on kernels that do not report it.")),
}  # fmt: skip
"""Maps each fact to the file in the device's folder, the function that converts it, and the fact's kind."""


@probe(
    Read(*(f"{FOLDER.format('*')}/{file}" for file, _, _ in LEAVES.values()), seconds=20, cap=4 << 20),
    gives={
        ITEM: collection("Block devices by the kernel's name, without loop, RAM and optical ones."),
        **{f"{ITEM}/*.{leaf}": kind for leaf, (_, _, kind) in LEAVES.items()},
    },
)
def block(files: Files) -> Facts:
    """Read the queue settings of each block device."""
    found = {name for file, _, _ in LEAVES.values() for (name,) in files.found(f"{FOLDER.format('*')}/{file}")}
    for name in filter(block_queue.is_disk, sorted(found, key=read.natural)):
        for leaf, (file, reader, _) in LEAVES.items():
            yield f"{ITEM}/{spell_key(name)}.{leaf}", files.read(f"{FOLDER.format(name)}/{file}", reader)
