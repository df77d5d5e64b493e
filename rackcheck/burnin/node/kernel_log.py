"""Reads on the node what the kernel's log tells of its GPUs: the Xids that come while they work."""

import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rackcheck.burnin.node.nvml_about import pci_place

XID_LINE = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]{10,16})[^)]{0,40}\): ([0-9]{1,5})\b.*")
XID_NAME = re.compile(r", name=.{0,20}?(?=, |$)")


class KernelLog:
    """The Xids that the kernel's log tells from now on; `readable` is false where only root may read it."""

    def __init__(self, path: "str") -> "None":
        self._rest = b""
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            os.lseek(self._file, 0, os.SEEK_END)
            self.readable = True
        except OSError:
            self.readable = False

    def xids(self) -> "Any":
        """Give what is new: place, number and line of each Xid, without the name of a process."""
        found = []
        for line in self._lines():
            match = XID_LINE.search(line)
            if match:
                message = XID_NAME.sub("", match.group(0))
                found.append((pci_place(match.group(1)), int(match.group(2)), message[:200]))
        return found

    def _lines(self) -> "Any":
        data = b""
        for _ in range(1024 if self.readable else 0):
            try:
                more = os.read(self._file, 8192)
            except BrokenPipeError:  # lines were overwritten before we came: the next ones are there
                continue
            except OSError:
                break
            if not more:
                break
            data += more
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()[:8192]
        return [line.decode("utf-8", "replace") for line in lines]
