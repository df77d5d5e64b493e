"""Finds the serial number of a missing part in an earlier run of the same machine."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from rackcheck.base.user_error import UserError
from rackcheck.model.part_index import PartIndex
from rackcheck.run import store
from rackcheck.run.judging import tree_of
from rackcheck.session.stored import stored_job
from rackcheck.views.named_part import NamedPart
from rackcheck.views.summary import Summary

RUNS = 50
"""Maximum number of earlier runs that are searched."""

READ = 64
"""Maximum number of times that the facts of a node of an earlier run are read."""


def with_earlier(summary: Summary) -> Summary:
    """Return a summary whose missing parts have the serial number that they had in an earlier run on this system.

    An earlier run of a node is one of the same machine if another part of the same kind had the same serial number.
    """
    wanted = {
        (node, named.part.items[0]): named
        for node, rules in summary.named.items()
        for parts in rules.values()
        for named in parts
        if named.missing and named.beside and not named.part.serial
    }
    if not wanted:
        return summary
    found = dict(_found(wanted, summary.started.run))
    whole = {
        node: {
            rule: tuple(found.get((node, each.part.items[0]), each) if each.missing else each for each in parts)
            for rule, parts in rules.items()
        }
        for node, rules in summary.named.items()
    }
    return replace(summary, named=whole)


_Wanted = Mapping[tuple[str, str], NamedPart]
"""Missing parts by node and first item."""


def _found(wanted: _Wanted, run: str) -> Iterator[tuple[tuple[str, str], NamedPart]]:
    """Yield the parts whose serial number is known from an earlier run."""
    left, read = dict(wanted), 0
    before = [name for name in store.ids() if name < run]
    for name in reversed(before[-RUNS:]):
        with suppress(UserError):  # a run that cannot be read has no serial number to offer
            stored = store.find(name)
            nodes = {str(each.get("name")) for each in stored.head.get("nodes", ()) if isinstance(each, dict)}
            for node in sorted(nodes & {node for node, _ in left}):
                if read == READ:
                    return
                read += 1
                index = _parts(stored, node)
                for key in [key for key in left if key[0] == node]:
                    named = left[key]
                    part = next(filter(None, map(index.part, named.part.items)), None)
                    if part is not None and part.serial:
                        del left[key]
                        if _same_machine(index, named):
                            yield key, replace(named, earlier=(part.serial, name))
        if not left:
            return


def _parts(stored: store.Stored, node: str) -> PartIndex:
    job = stored_job(stored)
    mine = next(each for each in job.nodes if each.name == node)
    return PartIndex(tree_of(job, mine, [answer for answer in stored.answers() if answer.node == node]))


def _same_machine(index: PartIndex, named: NamedPart) -> bool:
    """Whether a part of an earlier run has the serial number of a part of the same kind that the node still has."""
    collections = (item.rpartition("/")[0] for item in named.part.items)
    return any(part.serial in named.beside for each in collections for part in index.parts(each))
