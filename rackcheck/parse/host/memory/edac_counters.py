"""Counters of memory errors in the kernel's EDAC folders, /sys/devices/system/edac/mc."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from rackcheck.model.regex import regex
from rackcheck.model.text.files import Files
from rackcheck.model.text.values import whole

MC = "/sys/devices/system/edac/mc/mc*"
# A driver that cannot distinguish modules lists ranks instead, and an old driver lists rows of chips with channels.
MODULES = (f"{MC}/dimm*", f"{MC}/rank*")
ROW, CHANNEL = f"{MC}/csrow*", f"{MC}/csrow*/ch*"

_NUMBER = regex("[0-9]{1,4}")


@dataclass(frozen=True)
class Counted:
    """One memory module, rank, row or channel with error counters: its controller's number, its name and its files.

    Names are dimm0, rank0, csrow0 and csrow0:ch1. `folder` contains the files of the module, rank, row or channel; the
    paths of its counters begin with `prefix`.
    """

    controller: str
    name: str
    kind: Literal["module", "row", "channel"]
    folder: str
    prefix: str


def gibibytes(content: str) -> float:
    """Convert the driver's MB, which are MiB, to GiB; raises Unreadable if the content is not a whole number."""
    return whole(content) / 1024


def controllers(files: Files, names: Collection[str]) -> frozenset[str]:
    """Return the numbers of the memory controllers that have at least one file with one of the `names`."""
    found = {keys[0] for name in names for keys in files.found(f"{MC}/{name}")}
    return frozenset(number for number in found if _NUMBER.fullmatch(number))


def counted(files: Files, numbers: Collection[str]) -> Iterator[Counted]:
    """Yield the modules or ranks with error counters; for a memory controller without these, its rows and channels.

    If a folder could not be listed, raises Unreadable after yielding the modules, ranks or rows found before it.
    """
    modular = set()
    for glob in MODULES:
        for number, module in files.found(f"{glob}/dimm_ce_count"):
            if number in numbers and _NUMBER.fullmatch(module):
                modular.add(number)
                place = glob.replace("*", number, 1).replace("*", module, 1)
                yield Counted(number, place.rpartition("/")[2], "module", place, f"{place}/dimm_")
    rows = [number for number in numbers if number not in modular]
    for number, row in files.found(f"{ROW}/ce_count"):
        if number in rows and _NUMBER.fullmatch(row):
            place = ROW.replace("*", number, 1).replace("*", row, 1)
            yield Counted(number, f"csrow{row}", "row", place, f"{place}/")
    for number, row, channel in files.found(f"{CHANNEL}_ce_count"):
        if number in rows and _NUMBER.fullmatch(row) and _NUMBER.fullmatch(channel):
            place = ROW.replace("*", number, 1).replace("*", row, 1)
            yield Counted(number, f"csrow{row}:ch{channel}", "channel", place, f"{place}/ch{channel}_")
