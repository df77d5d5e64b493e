"""Reads on the node the small files in which kernel and drivers tell: a number or a line each."""

import os
from pathlib import Path
from typing import Any


def node_text(path: "Any") -> "Any":
    """Read the first 4 KiB of a file; None if it cannot be read."""
    try:
        file = os.open(str(path), os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        return os.read(file, 4096).decode("utf-8", "replace").strip()
    except OSError:
        return None
    finally:
        os.close(file)


def node_number(path: "Any") -> "Any":
    """Read a whole number; None if there is none."""
    try:
        return int(node_text(path) or "")
    except ValueError:
        return None


def node_numbers(paths: "Any") -> "Any":
    """Read the numbers of those files that hold one."""
    return [number for number in map(node_number, paths) if number is not None]


def node_paths(root: "str", where: "str", pattern: "str") -> "Any":
    """List files, in order; none where nothing can be listed."""
    try:
        return sorted(str(path) for path in Path(root + where).glob(pattern))
    except OSError:
        return []
