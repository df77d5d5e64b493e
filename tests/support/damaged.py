"""The clean simulated DGX H100 with its raw answers edited, judged as an audit judges it."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from sim_replies import captures_of, node

from rackcheck.evaluate.verdict import Status, Verdict, in_scope, judge
from rackcheck.model.capture import BmcCapture, NodeCapture, Output
from rackcheck.model.fact import Plane
from rackcheck.model.profile import Phase, Profile, Scope
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.collect import collect
from rackcheck.probe.join import derive
from rackcheck.probe.registry import registry
from rackcheck.profile import library


@dataclass(frozen=True)
class Answers:
    """The raw answers of one node: its operating system's and its BMC's."""

    host: NodeCapture
    bmc: BmcCapture

    def command(self, start: str, edit: Callable[[str], str]) -> "Answers":
        """Edit the output of every command that contains a text; AssertionError if nothing changes."""
        commands = dict(self.host.commands)
        for name, output in commands.items():
            if start in name and isinstance(output, Output):
                commands[name] = replace(output, out=edit(output.out))
        assert commands != self.host.commands, f"no output of `{start}` was changed"
        return replace(self, host=replace(self.host, commands=commands))

    def log(self, *lines: str, at: int = 1800) -> "Answers":
        """Append messages to the kernel's log, half an hour after the boot or `at` seconds after it."""
        added = "".join(f"[ {at + n:>4}.000000] {line}\n" for n, line in enumerate(lines))
        return self.command("dmesg", lambda text: text + added if text.count("\n") > 20 else text)

    def files(self, pattern: str, content: str | Callable[[str], str]) -> "Answers":
        """Replace or edit every file whose path matches; AssertionError if nothing changes."""
        found = {path: text for path, text in self.host.files.items() if re.fullmatch(pattern, path)}
        edited = {path: content if isinstance(content, str) else content(text) for path, text in found.items()}
        assert edited != found, f"no file {pattern} was changed"
        return replace(self, host=replace(self.host, files=dict(self.host.files) | edited))

    def without(self, pattern: str) -> "Answers":
        """Remove every file whose path contains a match; AssertionError if there is none."""
        kept = {path: text for path, text in self.host.files.items() if not re.search(pattern, path)}
        assert kept != self.host.files, f"no file {pattern} was removed"
        return replace(self, host=replace(self.host, files=kept))

    def bodies(self, pattern: str, edit: Callable[[dict[str, Any]], None]) -> "Answers":
        """Edit a copy of every Redfish body whose URI matches; AssertionError if nothing changes."""
        bodies: dict[str, Any] = dict(self.bmc.bodies)
        for uri, body in bodies.items():
            if re.fullmatch(pattern, uri) and isinstance(body, Mapping):
                bodies[uri] = json.loads(json.dumps(body))
                edit(bodies[uri])
        assert bodies != self.bmc.bodies, f"no body {pattern} was changed"
        return replace(self, bmc=replace(self.bmc, bodies=bodies))

    def tree(self) -> Tree:
        """The facts of these answers, with derived facts; they are read once."""
        return self._tree

    @cached_property
    def _tree(self) -> Tree:
        known = registry()
        # Most damage is to one plane: the clean answers of the other one are read once for all tests.
        leaves = {**_read(self.host, clean().host), **_read(self.bmc, clean().bmc)}
        return Tree({**leaves, **derive(known.joins, Tree(leaves))})

    def failing(self, name: str = "h100-dgx", **values: str) -> set[str]:
        """The blocker and major rules that fail on this node; the node fails if there is any."""
        return {v.rule for v in self.verdicts(name, **values) if v.status is Status.FAIL and v.rule in deciding(name)}

    @cached_property
    def _verdicts(self) -> dict[tuple[str, tuple[tuple[str, str], ...]], tuple[Verdict, ...]]:
        """The verdicts by the name of the profile and the site's values."""
        return {}

    def verdicts(self, name: str = "h100-dgx", **values: str) -> Iterable[Verdict]:
        """The verdicts of all rules about nodes that an audit of this node judges; each profile judges once."""
        key = name, tuple(sorted(values.items()))
        if key not in self._verdicts:
            self._verdicts[key] = tuple(self._judged(loaded(name, **values)))
        return self._verdicts[key]

    def _judged(self, profile: Profile) -> Iterable[Verdict]:
        judged = [
            rule
            for rule in profile.own
            if rule.scope is Scope.NODE
            if rule.across is None and in_scope(rule, "compute", frozenset(Plane), frozenset({Phase.CONFIG}))
        ]
        return judge(judged, self.tree())


def _read(answer: NodeCapture | BmcCapture, undamaged: NodeCapture | BmcCapture) -> Mapping[str, Leaf]:
    if answer is undamaged:
        return _clean_host() if isinstance(answer, NodeCapture) else _clean_bmc()
    return collect(registry().probes, answer)


@cache
def _clean_host() -> Mapping[str, Leaf]:
    return collect(registry().probes, clean().host)


@cache
def _clean_bmc() -> Mapping[str, Leaf]:
    return collect(registry().probes, clean().bmc)


@cache
def clean() -> Answers:
    """One node of the simulated rack that is clean."""
    return Answers(*captures_of(node()))


@cache
def loaded(name: str, **values: str) -> Profile:
    """A shipped profile with these site values."""
    return library.load(name, registry().catalogue, values)


@cache
def deciding(name: str) -> frozenset[str]:
    """The ids of a profile's blocker and major rules."""
    return frozenset(rule.id for rule in loaded(name).own if rule.severity.decides)
