"""Properties run on the same cases every time, so that red means a change; `make explore` looks for fresh ones."""

import gc
import os

import pytest
from hypothesis import settings

gc.set_threshold(50_000, 20, 50)  # as the command line has it

settings.register_profile("same", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("fresh", deadline=None, print_blob=True)
settings.load_profile("fresh" if os.environ.get("RACKCHECK_EXPLORE") else "same")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell how many rules of the library are proven, also where the tests ran in several processes."""
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties:
            if report.when == "call" and name == "rules proven":
                terminalreporter.write_line(f"{name}: {value}")
