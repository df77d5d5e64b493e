"""Check the burn-in of a real GPU against its goals; needs only python3 and the driver.

Called by gpu_check.py, or alone: `python3 benchmarks/gpu_burn.py -o FILE`. Each item of gpu_items.py runs in a separate
process with a time limit; its results up to then are kept in any case, and the file is rewritten after each item. A
goal is met, not met, or, where a value could not be measured, null with the reason. The file contains no serial number,
name or process. A GPU on which other processes compute is not tested. The check takes up to 8 minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from gpu_goals import judged  # noqa: E402  the path to it is made above

BROUGHT = HERE.parent / "dist" / "gpu-check"
"""Location of a shipped pynvml.py."""

ITEMS = {
    "binding": 20.0, "clean": 60.0, "ptx": 40.0, "rates": 40.0, "yardstick": 60.0, "seeds": 30.0, "quick": 60.0,
    "inject": 70.0, "numa": 40.0, "cap": 40.0, "data": 80.0, "trace": 90.0,
}  # fmt: skip
"""The items, in order, and the time limit of each in seconds."""

LONGEST = 480.0
"""Seconds for all items; items left over then are not measured."""


def run(item: str, given: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Run an item with a time limit in seconds, in a separate session, which is ended with all its processes."""
    words = [sys.executable, *sys_flags(), str(HERE / "gpu_items.py"), item, json.dumps(given)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)  # noqa: S603
    late = False
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        late = True
    finally:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    if late:
        out, err = process.communicate()
    found = gathered(out.decode("utf-8", "replace"))
    if late:
        found["why"] = f"hang: it had not ended after {seconds:.0f} s"
    elif process.returncode and "why" not in found:
        last = err.decode("utf-8", "replace").strip().splitlines()[-1:]
        found["why"] = f"lost: it ended with {process.returncode}: {''.join(last)[:200]}"
    return found


def sys_flags() -> list[str]:
    """Return the flags of this Python, for its child processes."""
    return ["-S"] if sys.flags.no_site else []


def gathered(out: str) -> dict[str, Any]:
    """Merge the output of an item; a truncated line is dropped."""
    found: dict[str, Any] = {}
    for line in out.splitlines():
        try:
            answer = json.loads(line)
        except ValueError:
            continue
        for name, value in answer.items() if isinstance(answer, dict) else ():
            if name.endswith("+"):
                found.setdefault(name[:-1], []).extend(value)
            else:
                found[name] = value
    return found


def pynvml() -> str:
    """Return the path of pynvml's file; empty where there is none."""
    if (BROUGHT / "pynvml.py").is_file():
        return str(BROUGHT / "pynvml.py")
    spec = find_spec("pynvml")
    return str(spec.origin) if spec and spec.origin else ""


def burn(keep: Callable[[dict[str, Any]], None], options: argparse.Namespace) -> dict[str, Any]:
    """Measure all items, and pass the results so far to `keep` after each."""
    given = {"gpu": options.gpu, "scale": options.scale, "hang": options.hang, "side": options.side,
             "cublas": options.cublas or None, "nvml": pynvml(), "root": options.root, "pci": "",
             "memory": 0}  # fmt: skip
    began = time.monotonic()
    about = run("about", given, 60.0)
    kept: dict[str, Any] = {
        "date": time.strftime("%Y-%m-%d", time.gmtime()), "python": sys.version.split()[0], "scale": options.scale,
        "about": about, "goals": {}, "measured": {},
    }  # fmt: skip
    measured = kept["measured"]
    for item, seconds in ITEMS.items():
        left = LONGEST - (time.monotonic() - began)
        if "device" not in about:
            measured[item] = {"why": about.get("why", "no GPU was read")}
        elif about.get("others"):
            measured[item] = {"why": f"foreign process: {about['others']} compute on this GPU"}
        elif item in options.skip:
            measured[item] = {"why": "stopped: it was not requested"}
        elif left < seconds / 2:
            measured[item] = {"why": f"stopped: {max(left, 0):.0f} s were left"}
        else:
            given.update(pci=about["device"]["pci"], memory=about["device"]["memory"])
            at = time.monotonic()
            measured[item] = run(item, given, min(seconds, left))
            measured[item]["took"] = round(time.monotonic() - at, 1)
        kept["goals"] = judged(measured)
        keep(kept)
    kept["took"] = round(time.monotonic() - began, 1)
    keep(kept)
    return kept


def written(out: Path, document: dict[str, Any]) -> None:
    """Write a file atomically, replacing the old one."""
    part = out.with_name(f"{out.name}.part")
    part.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(out)


def shown(kept: dict[str, Any]) -> None:
    """Print the most important figures."""
    if kept["scale"] < 1:
        print(f"a trial of {kept['scale']:g} of the time: all figures below are of a trial")
    words = {True: "met", False: "NOT MET", None: "unknown"}
    for name, goal in kept["goals"].items():
        value = goal["value"]
        text = f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)
        print(f"{words[goal['met']]:>10}  {name:<16} {text:>8} {goal['bar']:>8}  {goal.get('why', goal['what'])}")


def options_into(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--gpu", type=int, default=0, help="number of the GPU, in the order of the PCI bus")
    parser.add_argument("--scale", type=float, default=1.0, help="fraction of the full time; less than 1 is a trial")
    parser.add_argument(
        "--hang", type=float, default=5.0, help="seconds after which a launch on the GPU counts as hanging"
    )
    parser.add_argument("--side", type=int, default=8192, help="rows of cuBLASLt's matrices")
    parser.add_argument("--cublas", action="append", default=[], help="a folder with libcublasLt, instead of a search")
    parser.add_argument("--root", default="", help="the folder of proc, dev and sys")
    parser.add_argument("--skip", action="append", default=[], choices=list(ITEMS), help="do not measure this")


def main(words: list[str]) -> int:
    """Measure, store, print; returns 1 where a goal is not met, 3 where none could be judged."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--out", type=Path, default=Path("gpu-burn.json"), help="the file to write")
    options_into(parser)
    options = parser.parse_args(words)
    kept = burn(lambda found: written(options.out, found), options)
    shown(kept)
    print(f"written: {options.out}")
    return status(kept)


def status(kept: dict[str, Any]) -> int:
    """Return 1 where a goal is not met, 3 where none could be judged, else 0."""
    met = [goal["met"] for goal in kept["goals"].values()]
    return 1 if False in met else 0 if True in met else 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
