"""State folders of rackcheck on this system: one folder each for runs, acceptances and bundles."""

import os
from pathlib import Path

import platformdirs


def folder(name: str) -> Path:
    """Return the folder of one kind of state, below the system's state directory or below RACKCHECK_HOME."""
    home = os.environ.get("RACKCHECK_HOME")
    return (Path(home) if home else platformdirs.user_state_path("rackcheck")) / name
