"""The operating system plane in doctor: a few commands, and parsers of their output; pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rackcheck.doctor import file_access
from rackcheck.doctor.finding import Grant, PlaneTrouble, System, Trouble
from rackcheck.doctor.tools import Need, looked_for, needs
from rackcheck.doctor.unknown_rules import of_plane
from rackcheck.model.capture import NodeCapture, Output, named
from rackcheck.model.fact import Plane, Reason, Unknown, clean
from rackcheck.model.question import Read, Shell
from rackcheck.model.refusal import LATE
from rackcheck.probe.collect import collect
from rackcheck.probe.plan import Plan
from rackcheck.probe.sudoers import root_probes
from rackcheck.run.simulated_run import MARKED_FILE

SECONDS = 5.0
"""Time limit of one command on a node, in seconds."""

CAP = 1 << 14
"""Maximum size of a command's output in bytes: for a command that needs root, the beginning is enough."""

FILES = 20
"""Maximum number of unreadable files that are listed; the probes without data are counted for all files."""

PYTHON = "python3"

_REFUSED = frozenset({Reason.DENIED, Reason.UNREACHABLE})
"""Reasons for an unknown fact that can mean missing root rights; with any other reason, the command did run."""

_WHO = (
    'echo "uid $(id -u)"; echo "user $(id -un)"; echo "kernel $(uname -sr)"; echo "sent $RACKCHECK_SENT"; '
    "sed -n 's/^PRETTY_NAME=/name /p' /etc/os-release 2>/dev/null; "
    f"sed -n 's/^/simulator /p' {MARKED_FILE} 2>/dev/null"
)
_ON_BUS = "0x10de0x03"
"""Text that identifies commands which search for NVIDIA GPUs first, and need no python3 if there is no such GPU."""

_NO_GPU = (
    "(cd /sys/bus/pci/devices 2>/dev/null || exit 1; for d in *; do "
    '{ read -r v <"$d/vendor" && read -r c <"$d/class"; } 2>/dev/null || continue; '
    f"case $v$c in {_ON_BUS}*) exit 1;; esac; done) && echo 'idle python'"
)
_SOME = 'some() { for f; do [ ! -e "$f" ] || return 0; done; return 1; }'
_SUDO = '[ "$(id -u)" = 0 ] && exit 0; command -v sudo >/dev/null || { echo "no sudo"; exit 0; }; sudo -n -l'


@dataclass(frozen=True)
class Questions:
    """The commands that doctor runs on an operating system for a plan; `sudo` is whether sudo may be called there."""

    plan: Plan
    sudo: bool = True
    seconds: float = SECONDS

    @cached_property
    def needs(self) -> Mapping[Need, Sequence[str]]:
        """Return the programs that the plan's probes need on a node, each with the probes that need it."""
        found: dict[Need, list[str]] = {}
        for probe in self.plan.probes:
            if isinstance(probe.ask, Shell):
                for need in needs(probe.ask):
                    found.setdefault(need, []).append(probe.name)
        return {need: tuple(found[need]) for need in sorted(found, key=lambda n: (n.tool, n.where))}

    @cached_property
    def tools(self) -> tuple[str, ...]:
        """Return the programs that at least one probe needs."""
        return tuple(dict.fromkeys(need.tool for need in self.needs))

    @cached_property
    def _wheres(self) -> tuple[str, ...]:
        """Return the conditions under which programs are needed; the output refers to a condition by its number."""
        return tuple(dict.fromkeys(need.where for need in self.needs if need.where))

    @cached_property
    def scripts(self) -> tuple[str, ...]:
        """Return the probes that run a script with the node's own python3."""
        shells = (probe for probe in self.plan.probes if isinstance(probe.ask, Shell))
        return tuple(probe.name for probe in shells if PYTHON in looked_for(str(probe.ask)))

    def _scripts(self, out: str) -> tuple[str, ...]:
        """Return the probes that have no data without python3, because they run a script with it.

        On a node without an NVIDIA GPU, the scripts that only read NVIDIA GPUs need no python3.
        """
        if re.search(r"^idle python$", out, re.MULTILINE) is None:
            return self.scripts
        idle = {p.name for p in self.plan.probes if isinstance(p.ask, Shell) and _ON_BUS in p.ask.command}
        return tuple(name for name in self.scripts if name not in idle)

    @cached_property
    def asked(self) -> tuple[Shell, ...]:
        """Return all commands; those that need root are last."""
        shells = (probe.ask for probe in root_probes(self.plan.probes))
        root = [replace(ask, seconds=self.seconds, cap=CAP) for ask in shells if isinstance(ask, Shell)]
        return (self._looks, *self._files, *([self._sudo] if root and self.sudo else []), *dict.fromkeys(root))

    @cached_property
    def files(self) -> dict[str, tuple[str, ...]]:
        """Return the files that the plan's probes read, by glob, each with the probes that read it."""
        found: dict[str, list[str]] = {}
        for probe in self.plan.probes:
            ask = probe.ask.asking(self.plan.wanted)
            if isinstance(ask, Read):
                for glob in ask.globs:
                    found.setdefault(glob, []).append(probe.name)
        return {glob: tuple(names) for glob, names in found.items()}

    @cached_property
    def _files(self) -> Mapping[Shell, Sequence[str]]:
        """Return the commands that check for readable files, each with its globs."""
        asked = file_access.questions(tuple(self.files))
        return {Shell(text, seconds=self.seconds, cap=file_access.CAP): globs for text, globs in asked}

    @cached_property
    def _sudo(self) -> Shell:
        return Shell(_SUDO, seconds=self.seconds, cap=CAP)

    @cached_property
    def _looks(self) -> Shell:
        """Return the command that reports the system, missing tools, false conditions, and the version of python3."""
        names = " ".join(self.tools) or ":"
        there = f'for t in {names}; do command -v "$t" >/dev/null 2>&1 || echo "missing $t"; done'
        idle = [f"({where}) >/dev/null 2>&1 || echo 'idle {n}'" for n, where in enumerate(self._wheres)]
        python = f'p=$(command -v {PYTHON} || command -v /usr/libexec/platform-python) && "$p" -V 2>&1; :'
        parts = (_WHO, *self._paths, there, _SOME, *idle, _NO_GPU, "echo 'asked all'", python)
        return Shell("; ".join(parts), seconds=self.seconds, cap=CAP)

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        """Return the shell assignments `PATH=$PATH:FOLDER` with which some commands find their program."""
        shells = (named(probe.ask.command) for probe in self.plan.probes if isinstance(probe.ask, Shell))
        return tuple(dict.fromkeys(path for text in shells for path in re.findall(r"\bPATH=\$PATH:[\w/.-]+", text)))

    def read(self, capture: NodeCapture) -> tuple[tuple[PlaneTrouble, ...], System | None, float | None]:
        """Parse the outputs; return the findings, the system, and the time at which this machine sent the script.

        The time is by the clock of this machine, in seconds since 1970, and None if the outputs do not contain it.
        """
        answer = capture.output(self._looks)
        if not isinstance(answer, Output) or not re.search(r"^asked all$", answer.out, re.MULTILINE):
            return (self._silent(answer),), None, None
        who = _words(answer.out)
        python = self._python(answer)
        denied = self._denied(capture)
        grant = self._grant(capture, who.get("uid", ""), denied)
        found = [*self._missing(answer.out)]
        scripts = self._scripts(answer.out)
        if scripts and not python:
            message = "python3 did not answer" if python is None else ""
            found.append(PlaneTrouble(Trouble.NO_PYTHON, message, (PYTHON,), scripts))
        if denied:
            refused = tuple(dict.fromkeys(str(p.ask) for p in root_probes(self.plan.probes) if p.name in denied))
            found.append(PlaneTrouble(Trouble.NO_ROOT, grant.value, refused, tuple(denied)))
        found += self._unread(capture)
        name = who.get("name", "").strip("\"' ")
        sent = who.get("sent", "")
        system = System(
            name, who.get("kernel", ""), who.get("user", ""), grant, python or "", None, None, who.get("simulator", "")
        )
        return tuple(found), system, float(sent) if re.fullmatch(r"[0-9]{1,12}\.[0-9]{2}", sent) else None

    def _missing(self, out: str) -> Iterable[PlaneTrouble]:
        """Yield a trouble with the missing programs that probes need; a probe whose device is missing needs none."""
        names = set(re.findall(r"^missing (\S+)$", out, re.MULTILINE))
        idle = set(re.findall(r"^idle ([0-9]+)$", out, re.MULTILINE))
        at_work = {"", *(where for n, where in enumerate(self._wheres) if str(n) not in idle)}
        gone = {need: probes for need, probes in self.needs.items() if need.tool in names and need.where in at_work}
        if gone:
            tools = tuple(dict.fromkeys(need.tool for need in gone))
            lost = tuple(dict.fromkeys(probe for probes in gone.values() for probe in probes))
            yield PlaneTrouble(Trouble.NO_TOOL, "", tools, lost)

    def _unread(self, capture: NodeCapture) -> Iterable[PlaneTrouble]:
        """Yield troubles for files that an audit cannot read, and for checks of files that did not finish."""
        for ask, globs in self._files.items():
            refused = file_access.refused(capture.output(ask), globs)
            blind = globs if isinstance(refused, Unknown) else refused.values()
            lost = tuple(dict.fromkeys(probe for glob in blind for probe in self.files[glob]))
            if isinstance(refused, Unknown):
                yield PlaneTrouble(
                    Trouble.SLOW if refused.reason is Reason.TIMEOUT else Trouble.CUT, str(refused), (), lost
                )
            elif refused:
                yield PlaneTrouble(Trouble.NO_READ, "", tuple(refused)[:FILES], lost)

    def _silent(self, answer: Output | Unknown) -> PlaneTrouble:
        """Return the trouble if doctor's own command has no complete output; tools and root rights are then unknown."""
        message = str(answer) if isinstance(answer, Unknown) else f"status {answer.status}: {answer.err.strip()}"
        reason = answer.reason if isinstance(answer, Unknown) else Reason.TIMEOUT if answer.status in LATE else None
        trouble = {Reason.TOOL_MISSING: Trouble.NO_FRAME, Reason.TIMEOUT: Trouble.SLOW}.get(reason, Trouble.CUT)  # type: ignore[arg-type]
        things = ("timeout", "head", "tail") if trouble is Trouble.NO_FRAME else ()
        return PlaneTrouble(trouble, clean(message), things, of_plane(self.plan, Plane.OS))

    def _python(self, answer: Output) -> str | None:
        """Return the version of python3; empty if python3 does not run, None if it did not finish in time."""
        found = re.search(r"^Python (3\.[0-9]{1,3}(?:\.[0-9]{1,3})?)", answer.out, re.MULTILINE)
        return found[1] if found else None if answer.status in LATE else ""

    def _denied(self, capture: NodeCapture) -> dict[str, None]:
        """Return the probes that need root rights and would have no data in an audit, by the same criteria as an audit.

        A command that reads many devices may need longer than doctor allows: its timeout counts as missing root rights
        only if sudo itself timed out, too.
        """
        refused = _REFUSED | ({Reason.TIMEOUT} if self._hangs(capture) else set())
        found: dict[str, None] = {}
        for probe in root_probes(self.plan.probes):
            leaves = collect((probe,), capture).values()
            if any(isinstance(leaf.reading, Unknown) and leaf.reading.reason in refused for leaf in leaves):
                found[probe.name] = None
        return found

    def _some(self, capture: NodeCapture, denied: dict[str, None]) -> bool:
        """Return whether any command ran as root and had output; a missing tool or device proves nothing."""
        asks = (probe.ask for probe in root_probes(self.plan.probes) if probe.name not in denied)
        return any(_answered(capture.output(ask), ask.ok) for ask in asks if isinstance(ask, Shell))

    def _hangs(self, capture: NodeCapture) -> bool:
        """Return whether sudo, if it is used, timed out when it listed its grants."""
        if self._sudo not in self.asked:
            return False
        answer = capture.output(self._sudo)
        return answer.status in LATE if isinstance(answer, Output) else answer.reason is Reason.TIMEOUT

    def _grant(self, capture: NodeCapture, uid: str, denied: dict[str, None]) -> Grant:
        wanted = root_probes(self.plan.probes)
        if not wanted:
            return Grant.NOT_NEEDED
        if uid == "0":
            return Grant.ROOT
        if not self.sudo:
            return Grant.OFF
        answer = capture.output(self._sudo)
        message = answer.out if isinstance(answer, Output) else ""
        if message.startswith("no sudo"):
            return Grant.NO_PROGRAM
        if denied:
            return Grant.PART if self._some(capture, denied) else Grant.NONE
        return Grant.ALL if re.search(r"^\s+\([^)]{1,200}\) NOPASSWD: ALL$", message, re.MULTILINE) else Grant.LIST


def _answered(answer: Output | Unknown, ok: Sequence[int]) -> bool:
    """Return whether a command ran and had output, even if no parser can use it."""
    if isinstance(answer, Unknown):
        return answer.reason is Reason.TOO_LARGE
    return answer.status in ok and bool(answer.out)


def _words(out: str) -> dict[str, str]:
    rows = out.splitlines()[:20]
    return {word: clean(rest, 60) for word, _, rest in (row.partition(" ") for row in reversed(rows))}
