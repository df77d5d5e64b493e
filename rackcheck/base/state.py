"""Where rackcheck keeps what it writes on this system: runs, acceptances and bundles, side by side."""

import os
from pathlib import Path

import platformdirs


def folder(name: str) -> Path:
    """Give the folder of one kind of thing, below the system's place for state or below RACKCHECK_HOME."""
    home = os.environ.get("RACKCHECK_HOME")
    return (Path(home) if home else platformdirs.user_state_path("rackcheck")) / name
