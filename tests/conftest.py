"""Properties run on the same cases every time, so a failure means a change; `make explore` searches for new ones."""

import os
import shutil
import tempfile

import pytest
import tiers
from hypothesis import settings

from rackcheck.base.cycles import search_rarely

search_rarely()  # as the command line does

settings.register_profile("same", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("fresh", deadline=None, print_blob=True)
settings.load_profile("fresh" if os.environ.get("RACKCHECK_EXPLORE") else "same")

STATE, PROGRAM = "RACKCHECK_HOME", "RACKCHECK_PROGRAM_CACHE"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tier", choices=tiers.TIERS, help="run the tests of one tier: " + ", ".join(tiers.TIERS))
    parser.addoption("--share", type=tiers.share, metavar="2/3", help="of the dear tests, run only those of this share")
    parser.addoption("--measure", action="store_true", help="write what the tests cost to tests/durations.json")


def pytest_configure(config: pytest.Config) -> None:
    # A test without a state folder of its own, and each command that it starts, stores runs here, not in the user's.
    os.environ[STATE] = tempfile.mkdtemp(prefix="rackcheck-tests-")
    if not hasattr(config, "workerinput"):  # all processes share it: compiling profiles for each state folder is slow
        os.environ[PROGRAM] = tempfile.mkdtemp(prefix="rackcheck-tests-program-")
    # Burn-ins of several test processes run on this machine at the same time.
    os.environ["RACKCHECK_LEASE"] = f"rackcheck-tests-{os.getpid()}"
    if config.getoption("--tier") and config.getoption("--share"):
        raise pytest.UsageError("--share is a part of all tests, without --tier")
    if config.getoption("--measure"):
        if config.getoption("--tier") or config.getoption("--share"):
            raise pytest.UsageError("--measure runs all tests: without --tier and --share")
        config.pluginmanager.register(tiers.Measuring())


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(os.environ.pop(STATE, ""), ignore_errors=True)
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ.pop(PROGRAM, ""), ignore_errors=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    tiers.select(config, items)
    tiers.longest_first(items)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report how many rules of the library are proven, also where the tests ran in several processes."""
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties:
            if report.when == "call" and name == "rules proven":
                terminalreporter.write_line(f"{name}: {value}")
