"""Folders of rackcheck on this system: one each for runs, acceptances and bundles, and for what can be made again."""

import os
from pathlib import Path

import platformdirs


def folder(name: str) -> Path:
    """Return the folder of one kind of state, below the system's state directory or below RACKCHECK_HOME."""
    home = os.environ.get("RACKCHECK_HOME")
    return (Path(home) if home else platformdirs.user_state_path("rackcheck")) / name


def cache_folder(name: str) -> Path:
    """Return the folder of one kind of files that can be made again, below the user's cache or below RACKCHECK_HOME."""
    home = os.environ.get("RACKCHECK_HOME")
    return (Path(home) / "cache" if home else platformdirs.user_cache_path("rackcheck")) / name
