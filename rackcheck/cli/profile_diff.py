"""`rackcheck profile diff`: compare two profiles, rule by rule."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.model.profile import Profile, Rule
from rackcheck.profile import library
from rackcheck.profile.compare import Difference, differences
from rackcheck.profile.layers import did_you_mean
from rackcheck.run import store
from rackcheck.session import cli_choices, last_run, subject
from rackcheck.session.output import print_lines, width
from rackcheck.session.registry_loading import known
from rackcheck.signoff import acceptance
from rackcheck.views import machine
from rackcheck.views.summary import several
from rackcheck.views.terminal import Line, simulation

WORDS = ("title", "why", "fix", "refs")
"""Keys of a rule that do not affect its verdict."""


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    runs = [*acceptance.names(), "last", *reversed(store.ids())]
    found = [CompletionItem(run) for run in runs if run.startswith(incomplete)]
    return [*options.complete_profiles(ctx, param, incomplete), *found]


@click.command("diff", epilog="Exit: 0 no difference, 1 a difference, 2 usage error.")
@click.argument("a", metavar="A", shell_complete=_complete)
@click.argument("b", metavar="B", shell_complete=_complete)
@options.set_option
@options.profile_path_option
@options.json_option
def command(a: str, b: str, values: tuple[str, ...], folders: tuple[Path, ...], as_json: bool) -> int:
    """Compare two profiles with all inherited rules.

    A and B are names, files, runs or acceptances. For a run, the profile and the site values stored with the run are
    compared; --set does not change them. Each rule that differs is listed as stricter, weaker or different in B. A
    different title, reason or source also counts as a difference: the exit status is 1.

    \b
    rackcheck profile diff linux-server linux-gpu-node
    rackcheck profile diff h100-dgx ./ours.yaml --set driver=570.86.15
    rackcheck profile diff last ./ours.yaml          a run's profile, and another
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    options.note_closed()
    given = cli_choices.pairs(values)
    a, b = (name if name in library.profiles(folders) else last_run.named(name) for name in (a, b))
    sides = [_find(name, folders) for name in (a, b)]
    made_up = any(simulated for _, _, simulated in sides)
    params = sorted({param for profile, place, _ in sides if place for param in profile.params})
    strangers = [name for name in given if name not in params]
    if strangers:
        near = did_you_mean(strangers[0], params) or f"; params: {', '.join(params) or 'none'}"
        raise UserError(f"neither {a} nor {b} has a param {strangers[0]}{near}")
    old, new = (_with(profile, place, given, folders) for profile, place, _ in sides)
    found = _compared(old, new)
    if as_json:
        click.echo(machine.text(_document(old, new, found) | ({"simulated": True} if made_up else {})))
    else:
        print_lines(simulation(width(), simulated=made_up))
        print_lines(_lines(old, new, found))
    return 1 if found.any else 0


def _find(name: str, folders: tuple[Path, ...]) -> tuple[Profile, str, bool]:
    """Return a profile, the name or path from which it can be loaded again, and whether it is of a simulated run.

    For a run or an acceptance, the second value is empty, because its profile is stored together with its site values.
    If no profile, run or acceptance has this name, UserError with the most similar name is raised.
    """
    profiles = library.profiles(folders)
    a_file = Path(name).is_file()
    if name.endswith((".yaml", ".yml")) or name in profiles or (a_file and "/" in name):
        return library.load(name, known().catalogue, None, folders), name, False
    runs = [*acceptance.names(), *store.ids()]
    if name not in runs and "/" not in name:
        near = f"; for the file write ./{name}" if a_file else did_you_mean(name, [*profiles, *runs])
        lists = "; see rackcheck profile list and rackcheck runs list"
        raise UserError(f"no profile, run or acceptance {name}{near or lists}")
    found = subject.find(name)
    return found.profile, "", found.simulated


def _with(profile: Profile, place: str, given: Mapping[str, str], folders: tuple[Path, ...]) -> Profile:
    """Load a profile again with the site values in `given` for its params.

    The profile is returned unchanged if no site value is for its params, or if it is the profile of a run or an
    acceptance.
    """
    own = {name: value for name, value in given.items() if name in profile.params}
    return library.load(place, known().catalogue, own, folders) if own and place else profile


@dataclass(frozen=True)
class _Found:
    """The differences of two profiles; each pair contains the value in A and the value in B, "" for no value."""

    only_old: tuple[Rule, ...]
    only_new: tuple[Rule, ...]
    changed: tuple[Difference, ...]
    words: Mapping[str, tuple[str, ...]]
    params: Mapping[str, tuple[str, str]]
    dropped: Mapping[str, tuple[str, str]]
    machines: Mapping[str, tuple[str, str]]

    @property
    def any(self) -> bool:
        rules = self.only_old or self.only_new or self.changed or self.words
        return bool(rules or self.params or self.dropped or self.machines)


def _compared(old: Profile, new: Profile) -> _Found:
    before, after = ({rule.id: rule for rule in profile.own} for profile in (old, new))
    shared = [(before[rule_id], rule) for rule_id, rule in after.items() if rule_id in before]
    words = {
        rule.id: tuple(word for word in WORDS if getattr(was, word) != getattr(rule, word)) for was, rule in shared
    }
    return _Found(
        tuple(rule for i, rule in before.items() if i not in after),
        tuple(rule for i, rule in after.items() if i not in before),
        tuple(differences(before, after)),
        {rule_id: some for rule_id, some in words.items() if some},
        _values({n: _shown(v) for n, v in old.params.items()}, {n: _shown(v) for n, v in new.params.items()}),
        _values(old.dropped, new.dropped),
        _values(_machines(old), _machines(new)),
    )


def _machines(profile: Profile) -> dict[str, str]:
    """Return the `applies-to` of a profile as texts by key; empty for a fragment."""
    return {} if profile.fragment else {key: ", ".join(globs) for key, globs in profile.applies_to.items()}


def _values(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the values that differ; "" stands for a missing value."""
    names = dict.fromkeys((*old, *new))
    return {n: (old.get(n, ""), new.get(n, "")) for n in names if old.get(n, "") != new.get(n, "")}


def _shown(value: str | None) -> str:
    return "not set" if value is None else value


def _lines(old: Profile, new: Profile, found: _Found) -> Iterator[Line]:
    for side, profile in (("A", old), ("B", new)):
        what = ", ".join(filter(None, (several(len(profile.own), "rule"), profile.title)))
        yield Line(((f"{side} {profile.name} {profile.version}", "bold"), (f"  {what}", "dim")))
    if not found.any:
        yield Line((("no difference", ""),))
    for head, rules, dropped in (
        ("only in A", found.only_old, new.dropped),
        ("only in B", found.only_new, old.dropped),
    ):
        yield from _section(f"{head}: {several(len(rules), 'rule')}", _listed(rules, dropped))
    for lean in ("weaker", "stricter", "different"):
        some = [one for one in found.changed if one.lean.value == lean]
        yield from _section(f"{lean} in B: {several(len(some), 'rule')}", _folded((one.how, one.rule) for one in some))
    words = _folded((", ".join(which), rule_id) for rule_id, which in found.words.items())
    yield from _section(f"different texts in B: {several(len(found.words), 'rule')}", words)
    params = [
        f"{name}: {was or 'no such param'} -> {now or 'no such param'}" for name, (was, now) in found.params.items()
    ]
    yield from _section("params", params)
    machines = [f"{key}: {was or 'not named'} -> {now or 'not named'}" for key, (was, now) in found.machines.items()]
    yield from _section("machines", machines)
    names = {rule.id for rule in (*found.only_old, *found.only_new)}
    drops = (f"{rule}: {_drop(was, now)}" for rule, (was, now) in found.dropped.items() if rule not in names)
    yield from _section("dropped", drops)


def _drop(was: str, now: str) -> str:
    return "; ".join(f"in {side}: {reason}" for side, reason in (("A", was), ("B", now)) if reason)


def _section(head: str, lines: Iterable[str]) -> Iterator[Line]:
    rows = list(lines)
    if rows:
        yield Line(((head, "bold"),))
        yield from (Line(((f"    {text}", ""),)) for text in rows)


def _listed(rules: Iterable[Rule], dropped: Mapping[str, str]) -> Iterator[str]:
    """Yield lines with the ids of rules; ids with the same first part are on one line.

    If one of the two profiles drops a rule of the other profile, the rule has its own line, with the reason.
    """
    areas: dict[str, list[str]] = {}
    for rule in rules:
        if rule.id in dropped:
            yield f"{rule.id}  dropped by the other profile: {dropped[rule.id]}"
        else:
            area, dot, rest = rule.id.partition(".")
            areas.setdefault(area + dot, []).append(rest)
    for area, some in areas.items():
        yield f"{area}{some[0]}" if len(some) == 1 else f"{area}{{{', '.join(some)}}}"


def _folded(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """List identical differences once, with all their rules."""
    rules: dict[str, list[str]] = {}
    for how, rule in rows:
        rules.setdefault(how, []).append(rule)
    for how, some in rules.items():
        yield f"{', '.join(some)}: {how}"


def _document(old: Profile, new: Profile, found: _Found) -> dict[str, Any]:
    return {
        "rackcheck": machine.FORMAT,
        "a": _head(old),
        "b": _head(new),
        "only_in_a": [{"rule": rule.id, "title": rule.title} for rule in found.only_old],
        "only_in_b": [{"rule": rule.id, "title": rule.title} for rule in found.only_new],
        "changed": [{"rule": one.rule, "lean": one.lean.value, "how": one.how} for one in found.changed],
        "words": [{"rule": rule_id, "keys": list(which)} for rule_id, which in found.words.items()],
        "params": [{"name": name, "a": was or None, "b": now or None} for name, (was, now) in found.params.items()],
        "dropped": [{"rule": rule, "a": was or None, "b": now or None} for rule, (was, now) in found.dropped.items()],
        "applies_to": [{"key": key, "a": was or None, "b": now or None} for key, (was, now) in found.machines.items()],
    }


def _head(profile: Profile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "version": profile.version,
        "digest": profile.digest,
        "lineage": list(profile.lineage),
    }
