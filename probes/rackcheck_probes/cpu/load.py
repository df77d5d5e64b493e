"""How busy the machine is."""

import re

from rackcheck import Class, Facts, Files, Read, Unreadable, integer, probe, quantity, read

LOAD, ONLINE = "/proc/loadavg", "/sys/devices/system/cpu/online"
SPANS = ("minute", "five_minutes", "quarter_hour")


@probe(
    Read(LOAD, ONLINE),
    gives={
        "cpu.load.minute": quantity("%", "The load of the last minute: tasks per online CPU.", Class.MEASUREMENT),
        "cpu.load.five_minutes": quantity("%", "The load of the last five minutes.", Class.MEASUREMENT),
        "cpu.load.quarter_hour": quantity("%", "The load of the last quarter of an hour.", Class.MEASUREMENT),
        "cpu.load.tasks": integer("Existing threads, including the kernel's.", Class.MEASUREMENT),
    },
)
def cpu_load(files: Files) -> Facts:
    """Read the load averages as a share of the CPUs: 100 % is one task per CPU."""
    match = re.fullmatch(
        r"([\d.]{1,20}) ([\d.]{1,20}) ([\d.]{1,20}) \d{1,9}/(\d{1,9}) \d{1,9}", read.line(files.text(LOAD))
    )
    cpus = len(read.numbers(read.line(files.text(ONLINE))))
    if match is None or not cpus:
        raise Unreadable(f"{LOAD}: expected three loads, tasks and a number")
    for span, load in zip(SPANS, match.groups(), strict=False):
        yield f"cpu.load.{span}", 100 * read.number(load) / cpus
    yield "cpu.load.tasks", read.whole(match[4])
