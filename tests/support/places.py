"""Folders that tests read: the repository, its tests, their helpers, and the shared recordings beside it."""

from pathlib import Path

SUPPORT = Path(__file__).parent
TESTS = SUPPORT.parent
ROOT = TESTS.parent
SHARED = ROOT.parent / "shared"
