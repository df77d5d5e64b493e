"""Reads small files of the node's kernel and drivers, each with one number or one line."""

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
    """Read a whole number; None if the file does not contain one."""
    try:
        return int(node_text(path) or "")
    except ValueError:
        return None


def node_numbers(paths: "Any") -> "Any":
    """Read one number from each file; files without a number are omitted."""
    return [number for number in map(node_number, paths) if number is not None]


def node_paths(root: "str", where: "str", pattern: "str") -> "Any":
    """Return the files that match a pattern, sorted; none if the folder cannot be listed."""
    try:
        return sorted(str(path) for path in Path(root + where).glob(pattern))
    except OSError:
        return []
