"""Simulates a node's shell: the outputs of rackcheck's script and of single commands are read from a machine's capture.

Only scripts of `probe.script` can be parsed. Each command of a script is looked up in the capture, and its output is
printed between the same separators as by a real shell.
"""

import re
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from rackcheck.model.capture import NodeCapture, Output, named
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.text import covers, matching
from rackcheck.model.text.files import sorted_paths
from rackcheck.sim import command_lookup, login

HEAD = "head -v -c "
_ONCE = re.compile(r"^case \$i in -\*\) \(exit 126\);; \*\) \((.*)\) 2>&1;; esac$", re.MULTILINE)
_NEWEST = re.compile(r"exec 8>&1; s=\$\(\{ \{ \((.*)\); echo \$\? >&3; \} \| tail -c ([0-9]+) >&8; \} 3>&1\); exit \$s")
"""Matches the part of a script that keeps only the last bytes of a command's output."""
_DEVICE = re.compile(r"^==> .+ <==\n", re.MULTILINE)
"""Matches the heading with a device's name in the output of a command that a script runs for each device."""
CLOCKS = 'echo "$RACKCHECK_SENT $RACKCHECK_CLOCK"'


@dataclass(frozen=True)
class ShellQuestion:
    """One command of a script, with the maximum sizes of its output and its standard error, in bytes."""

    index: str
    command: str
    cap: int
    complaints: int


def jobs(script: str) -> tuple[str, tuple[ShellQuestion, ...]]:
    """Return the separator that a rackcheck script prints around outputs, and the script's commands.

    Raises ValueError if the script is not from rackcheck.
    """
    mark = re.search(r"^m=([0-9a-f]{32}) none= have=$", script, re.MULTILINE)
    begin, end = script.find("; exit 0; }; done\n"), script.rfind('\nsay "$none"\nwait\n')
    if mark is None or not 0 <= begin < end:
        raise ValueError("not the script of rackcheck")
    return mark[1], _jobs(script[begin + len("; exit 0; }; done\n") : end])


@lru_cache(maxsize=64)
def _jobs(text: str) -> tuple[ShellQuestion, ...]:
    """Return the commands in a script; the result is cached, because all nodes of a run get the same lines.

    Each line of the script is one of: `own INDEX SECONDS CAP COMMAND COMPLAINTS PROGRAM WITHOUT [GLOB]... ;` for one
    command, `lane LANE SECONDS CAP [INDEX COMMAND]... ;` for several commands, and `have=... ;`, which searches for
    programs.
    """
    words = shlex.split(text)
    ends = [i for i, word in enumerate(words) if word == ";"]
    rows = [words[a:b] for a, b in zip([0, *(end + 1 for end in ends)], ends, strict=False)]
    rows = [row for row in rows if not row[0].startswith("have=")]
    if any(len(row) < 6 or row[0] not in {"own", "lane"} for row in rows) or words[-1:] not in ([], [";"]):
        raise ValueError("not the commands of rackcheck")
    alone = [ShellQuestion(row[1], row[4], int(row[3]), int(row[5])) for row in rows if row[0] == "own"]
    pairs = [
        (int(row[3]), *pair) for row in rows if row[0] == "lane" for pair in zip(row[4::2], row[5::2], strict=True)
    ]
    return (*alone, *(ShellQuestion(index, command, cap, 4000) for cap, index, command in pairs))


class SimShell:
    """The shell of one simulated node; if the capture has no host name, the node's name is used."""

    def __init__(self, host: NodeCapture, name: str = "", *, sudo: bool = True, skew: float = 0.0) -> None:
        self._host, self._name, self._sudo, self._skew = host, name, sudo, skew
        self._paths = sorted_paths(tuple(sorted(host.files)))

    def run(self, script: str) -> bytes:
        """Return the output of a rackcheck script."""
        mark, questions = jobs(script)
        sent = re.match(r"RACKCHECK_SENT=([0-9.]+) ", script)
        clocks = f"{sent[1] if sent else ''} {time.time() + self._skew:.9f}\n"
        frames = []
        for job in questions:
            clock = Output(0, clocks) if job.command == CLOCKS else None
            answer = clock or self._answer(job.command, job.cap, sent[1] if sent else "")
            if answer is not None:
                frames.append(_frame(mark, job, answer))
        return "".join((*frames, f"\n{mark}>{len(questions)}\n")).encode("utf-8", "surrogateescape")

    def command(self, text: str) -> Output:
        """Return the output of one command that a user typed."""
        return self._answer(text, 1 << 20) or Output(255, "", "this simulated node has no recorded answer\n")

    def _answer(self, command: str, cap: int, sent: str = "") -> Output | None:
        if command.startswith(HEAD):
            return self._read(_globs(command), cap)
        newest = _NEWEST.fullmatch(command)
        if newest is not None:
            answer = self._answer(newest[1], cap, sent)
            return answer and replace(answer, out=answer.out[-int(newest[2]) :])
        once = _ONCE.search(command)
        if once is not None:
            command = once[1].replace('"$i"', "{}")
        root = command.startswith("$ROOT ")
        command = command.removeprefix("$ROOT ")
        held = self._host.commands.get(named(command))
        if root and not self._sudo:
            refused = "sudo: a password is required\n"
            if once is None:
                return Output(1, "", refused)
            devices = _DEVICE.findall(held.out) if isinstance(held, Output) else []
            return Output(0, "".join(f"{head}{refused}\n<== 1\n" for head in devices))
        if isinstance(held, Output):
            return held
        if isinstance(held, Unknown):
            return _as_unknown(held)
        known = login.login_output(self._host, command, sudo=self._sudo, sent=sent) or command_lookup.lookup_output(
            self._host, self._name, command
        )
        word = next(iter(command.split()), "")
        return known or Output(127, "", f"sh: 1: {word}: not found (this simulated node has no reply)\n")

    def _read(self, globs: tuple[str, ...], cap: int) -> Output | None:
        """Return the output of `head -v -c CAP -- GLOB...`."""
        out: list[str] = []
        err: list[str] = []
        for glob, found in zip(globs, _found(self._paths, globs), strict=True):
            trouble = self._host.globs.get(glob)
            if trouble is not None:
                return _as_unknown(trouble)
            if self._host.globs and glob not in self._host.globs:
                err.append(f"head: error reading '{glob}': not in the recording\n")
                continue
            if not found and glob not in self._host.refused:
                err.append(f"head: cannot open '{glob}' for reading: No such file or directory\n")
            out += [f"==> {path} <==\n{self._host.files[path]}" for path in found]
            err += [
                f"head: cannot open '{path}' for reading: {_ERRORS.get(why.reason, 'Input/output error')}\n"
                for path, why in self._host.refused.items()
                if path == glob or covers(glob, path)
            ]
        text = "\n".join(out)
        return Output(1 if err else 0, text[:cap], "".join(err))


@lru_cache(maxsize=256)
def _globs(command: str) -> tuple[str, ...]:
    """Return the globs of a command that reads files; the result is cached, because all nodes get the same commands."""
    return tuple(shlex.split(command.partition("\n")[0])[5:])


@lru_cache(maxsize=256)
def _found(paths: tuple[str, ...], globs: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the matches of each glob in a sorted list of paths.

    The result is cached: nodes with the same files get the same globs, and a search that holds the interpreter lock for
    each node delays the replies of all other nodes and BMCs of the rack.
    """
    return tuple(tuple(matching(paths, glob)) for glob in globs)


_ERRORS: Mapping[Reason, str] = {Reason.DENIED: "Permission denied"}


def _as_unknown(why: Unknown) -> Output | None:
    """Return an output from which a probe concludes that a value is unknown for this reason; None if there is none."""
    message = f"{why.detail}\n"
    match why.reason:
        case Reason.TIMEOUT:
            return Output(124, "", message)
        case Reason.TOOL_MISSING:
            return Output(127, "", message)
        case Reason.DENIED:
            return Output(1, "", f"{why.detail}: Permission denied\n")
    return None


def _frame(mark: str, job: ShellQuestion, answer: Output) -> str:
    """Return an output between the script's separators, with status and standard error, as a real shell prints it."""
    out = answer.out if len(answer.out) <= job.cap else answer.out[: job.cap]
    return f"\n{mark}<{job.index}\n{out}{mark}:{answer.status}={answer.err[-job.complaints :]}{mark}.\n"
