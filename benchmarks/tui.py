"""Cost of the screens on a terminal: CPU, bytes, and the time from a key to its drawing; as ratios first.

Each way runs three times on its own pty, alternating, so that changes of the machine's load affect all of
them; the result is the median. Very slow ways run once.

    hall    1,024 nodes in 16 racks, 5 % of them changing four times a second: our racks, paced, under a head; beside
            one canvas of the same cells, one canvas a rack, a widget a node, and the library's table as a grid
    table   100,000 rows: from opening to display, from a key to the rows with a word; beside the library's table
    slow    the hall through 12,500 bytes a second (100 kbit/s), as `--link slow` and by default; beside canvases
    first   from the start of a process to its head in sight, beside a minimal application of the library.
            The command is an option: --command "rackcheck tui RUN" --needle "text of its head"; else our hall

    python benchmarks/tui.py [-o tui.json] [--command "rackcheck tui RUN" --needle TEXT] [--only hall,slow]
"""

import argparse
import json
import platform
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from math import ceil
from pathlib import Path
from statistics import median

from tui_pty import Terminal

APP = str(Path(__file__).with_name("tui_app.py"))
HEAD = b"rackcheck tui benchmark"
ROUNDS = 3
ONCE = {"canvas a rack, unpaced", "widget a node", "its table"}
"""Ways so slow that they run only once."""

WINDOW = 5.0
"""Seconds for which a hall is watched, after it has settled."""

SLOW = 12_500
"""Bytes a second of 100 kbit/s."""

Measured = dict[str, float]


def started(way: str, *more: str, link: float = 0) -> Terminal:
    """Start a way of the application, and wait for its head."""
    terminal = Terminal([sys.executable, APP, way, *more], link=link)
    if terminal.wait(HEAD, 30) is None:
        raise SystemExit(f"{way}: nothing was drawn")
    return terminal


def echo(count: int) -> bytes:
    """Return what the application draws at a key."""
    return b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[count % 26 :][:1] * 8


def hall(way: str, *more: str, link: float = 0, window: float = WINDOW, every: float = 0.25) -> Measured:
    """Watch a hall and type; times in milliseconds, bytes and CPU time per second."""
    terminal = started(way, *more, link=link)
    try:
        terminal.rest(1.0)
        for number in (1, 2):  # remaining output of the first picture does not belong to the keys
            terminal.press(b"x", echo(number), 60)
            terminal.rest(0.5)
        keys = list[float]()
        used, took, spent = terminal.cpu(), terminal.took, 0.0
        while spent < window:
            pressed = terminal.press(b"x", echo(len(keys) + 3))
            keys.append(30.0 if pressed is None else pressed)
            terminal.rest(every)
            spent += keys[-1] + every
        return {
            "cpu_pct": 100 * (terminal.cpu() - used) / spent,
            "bytes_s": (terminal.took - took) / spent,
            "key_p50_ms": 1000 * median(keys),
            "key_p95_ms": 1000 * sorted(keys)[ceil(len(keys) * 0.95) - 1],
            "key_max_ms": 1000 * max(keys),
            "rss_mb": terminal.memory(),
        }
    finally:
        terminal.close()


def table(way: str) -> Measured:
    """Open a table of many rows, narrow it, open it again, and scroll through it."""
    terminal = started(way)
    try:
        terminal.rest(0.5)
        opened = terminal.press(b"o", b"o" * 8, 60)
        terminal.rest(0.5)
        paged = [terminal.press(b"x", echo(number)) for number in range(1, 11)]
        filtered = terminal.press(b"f", b"f" * 8, 60)
        terminal.rest(0.3)
        times = {"open_ms": opened, "filter_ms": filtered, "page_ms": median(each or 30.0 for each in paged)}
        return {**{name: 1000 * (each or 60.0) for name, each in times.items()}, "rss_mb": terminal.memory()}
    finally:
        terminal.close()


def first(command: Sequence[str], needle: bytes) -> Measured:
    """Return the time from a process's start to its head."""
    terminal = Terminal(command)
    try:
        seen = terminal.wait(needle, 30)
        return {"first_ms": 1000 * (30.0 if seen is None else seen), "rss_mb": terminal.memory()}
    finally:
        terminal.close()


Ways = Mapping[str, Callable[[], Measured]]


def ways(command: Sequence[str], needle: bytes) -> dict[str, Ways]:
    """Return the ways to measure, ours first."""
    through: dict[str, float] = {"link": SLOW, "window": 6.0, "every": 0.3}
    return {
        "hall": {
            "ours": lambda: hall("ours"), "canvas": lambda: hall("canvas"), "canvas a rack": lambda: hall("racks"),
            "widget a node": lambda: hall("static"), "its table": lambda: hall("grid"),
        },
        "table": {"ours": lambda: table("table"), "its table": lambda: table("stock-table")},
        "slow": {
            "ours, slow": lambda: hall("ours", "--link", "slow", **through),
            "ours, default": lambda: hall("ours", **through),
            "canvas a rack, unpaced": lambda: hall("racks", link=SLOW, window=1.0),
        },
        "first": {
            "ours": lambda: first(command, needle), "bare": lambda: first([sys.executable, APP, "bare"], HEAD),
        },
    }  # fmt: skip


def measured(of: Ways, rounds: int) -> dict[str, Measured]:
    """Run every way several times, alternating, and return the medians."""
    runs: dict[str, list[Measured]] = {way: [] for way in of}
    for number in range(rounds):
        for way, run in of.items():
            if number == 0 or way not in ONCE:
                runs[way].append(run())
    return {way: {name: round(median(run[name] for run in some), 1) for name in some[0]} for way, some in runs.items()}


def print_figures(what: str, found: Mapping[str, Measured]) -> None:
    """Print the figures, and the ratio of each other way to ours."""
    ours, *rest = found
    print(f"\n{what}", *(f"{way:>18}" for way in found), *(f"{'/ ' + way:>18}" for way in rest), sep="  ")
    for name, own in found[ours].items():
        ratios = [f"{own / found[way][name]:>18.2f}" if found[way][name] else " " * 18 for way in rest]
        print(f"{name:>{len(what)}}", *(f"{each[name]:>18,.1f}" for each in found.values()), *ratios, sep="  ")


def main() -> None:
    """Measure, print, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="write the results as JSON")
    parser.add_argument("--only", default="hall,table,slow,first")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--command", default=shlex.join([sys.executable, APP, "ours"]))
    parser.add_argument("--needle", default=HEAD.decode())
    chosen = parser.parse_args()
    versions = {name: version(name) for name in ("textual", "rich", "rackcheck")} | {
        "python": platform.python_version()
    }
    print(*(f"{name} {each}" for name, each in versions.items()), sep=", ")
    every = ways(shlex.split(chosen.command), chosen.needle.encode())
    found: dict[str, dict[str, Measured]] = {}
    for what in chosen.only.split(","):
        found[what] = measured(every[what], chosen.rounds)
        print_figures(what, found[what])
    if chosen.output is not None:
        chosen.output.write_text(json.dumps({"versions": versions, **found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
