"""Reads new GPU Xids from the node's kernel log during the load."""

import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rackcheck.burnin.node.nvml_about import pci_place

XID_LINE = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]{10,16})[^)]{0,40}\): ([0-9]{1,5})\b.*")
XID_NAME = re.compile(r", name=.{0,20}?(?=, |$)")


class KernelLog:
    """The Xids that the kernel logs after this object is created; `readable` is false if the log cannot be opened."""

    def __init__(self, path: "str") -> "None":
        self._rest = b""
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            os.lseek(self._file, 0, os.SEEK_END)
            self.readable = True
        except OSError:
            self.readable = False

    def xids(self) -> "Any":
        """Return the PCI address, number and log line of each new Xid, without the name of the process."""
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
            except BrokenPipeError:  # unread lines were overwritten; the next read returns the following lines
                continue
            except OSError:
                break
            if not more:
                break
            data += more
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()[:8192]
        return [line.decode("utf-8", "replace") for line in lines]
