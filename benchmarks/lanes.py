"""Savings from quick commands that share shells, and from reading the files of one place at once.

The script of all commands runs on this machine, in its own `sh`, in several alternating forms. The fastest round of
each counts, as a busy machine only adds time. Prints wall time and CPU time, each relative to the form that
ships.

    python benchmarks/lanes.py
"""

import os
import subprocess
import time
from dataclasses import replace
from secrets import token_hex

from rackcheck.model.question import Read, Shell
from rackcheck.probe import script
from rackcheck.probe.plan import Plan
from rackcheck.probe.registry import registry

ROUNDS = 20


def forms() -> dict[str, str]:
    """Return the script as shipped and in alternative forms."""
    probes = registry().probes
    questions = Plan(probes).questions
    quick = sum(isinstance(one, Shell) and one.quick for one in questions)
    print(f"questions {len(questions)}, of them quick {quick}, of files {sum(isinstance(q, Read) for q in questions)}")
    apart = tuple(replace(one, quick=False, lane="") if isinstance(one, Shell) else one for one in questions)
    alone = tuple(replace(one, lane="") if isinstance(one, Shell) else one for one in questions)
    asks = (probe.ask for probe in probes if isinstance(probe.ask, Read))
    files = tuple(dict.fromkeys(ask.asking(()) for ask in asks))
    commands = tuple(one for one in questions if isinstance(one, Shell))
    return {
        "as it ships": script.compose(questions, token_hex(16)),
        "one lane": _with(1, questions),
        "six lanes": _with(6, questions),
        "no lanes by name": script.compose(alone, token_hex(16)),
        "a process for each question": script.compose(apart, token_hex(16)),
        "a question for each probe's files": script.compose((*commands, *files), token_hex(16)),
    }


def _with(lanes: int, questions: tuple[Shell | Read, ...]) -> str:
    ours, script.LANES = script.LANES, lanes
    try:
        return script.compose(questions, token_hex(16))
    finally:
        script.LANES = ours


def main() -> None:
    """Measure, print seconds and ratios."""
    texts = forms()
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in texts}
    for _ in range(ROUNDS):
        for name, text in texts.items():
            before, began = os.times(), time.perf_counter()
            subprocess.run(["sh", "-s"], input=text.encode(), capture_output=True, check=True)  # noqa: S607
            passed, after = time.perf_counter() - began, os.times()
            spent = after.children_user - before.children_user + after.children_system - before.children_system
            took[name].append((passed, spent))
    best = {name: tuple(map(min, zip(*rounds, strict=True))) for name, rounds in took.items()}
    passed, spent = best["as it ships"]
    for name, (a, b) in best.items():
        print(f"{name:40} {a:6.3f} s passed ({a / passed:4.2f})   {b:6.3f} s of processors ({b / spent:4.2f})")


if __name__ == "__main__":
    main()
