"""Folders of rackcheck on this system: one each for runs, acceptances and bundles, and for what can be made again."""

import os
from pathlib import Path


def folder(name: str) -> Path:
    """Return the folder of one kind of state, below the system's state directory or below RACKCHECK_HOME."""
    home = os.environ.get("RACKCHECK_HOME")
    if home:
        return Path(home) / name
    import platformdirs  # noqa: PLC0415  benchmarks run where only the standard library is installed

    return platformdirs.user_state_path("rackcheck") / name


def cache_folder(name: str) -> Path:
    """Return the folder of one kind of files that can be made again, below the user's cache or below RACKCHECK_HOME."""
    home = os.environ.get("RACKCHECK_HOME")
    if home:
        return Path(home) / "cache" / name
    import platformdirs  # noqa: PLC0415

    return platformdirs.user_cache_path("rackcheck") / name


def program_cache_folder(name: str) -> Path:
    """Return the folder of one kind of files that depend on the program and its profiles, not on the nodes.

    RACKCHECK_PROGRAM_CACHE names a folder for them, so that state folders that are used once share them.
    """
    place = os.environ.get("RACKCHECK_PROGRAM_CACHE")
    return Path(place) / name if place else cache_folder(name)
