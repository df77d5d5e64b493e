"""`--where`: the filter that commands share with the TUI, with completion and a mark below the wrong term."""

from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

import click
from click.shell_completion import CompletionItem

from rackcheck.cli.options import complete_facts
from rackcheck.filter.unmatched import unmatched
from rackcheck.filter.where import CLOSED, COMPARED, KEYS, WORDS, FilterError, Where
from rackcheck.filter.where import parse as parse_where
from rackcheck.model import path as paths
from rackcheck.model.catalogue import Kind
from rackcheck.profile.layers import did_you_mean
from rackcheck.session.output import note

F = TypeVar("F", bound=Callable[..., object])


def where_option(words: str, keys: frozenset[str] = KEYS) -> Callable[[F], F]:
    """Return the option `--where FILTER`, passed as `where`; a filter without terms selects everything.

    `keys` are the keys of `rackcheck.filter.where` that the command supports; any other key is a usage error.
    """

    def read(_ctx: click.Context, _param: click.Parameter, value: str | None) -> Where:
        return where(value or "", keys)

    return click.option("--where", "where", metavar="FILTER", callback=read, shell_complete=_filters(keys), help=words)


def where(text: str, keys: frozenset[str] = KEYS) -> Where:
    """Parse a filter; raises a usage error that marks the wrong term and suggests the nearest valid word."""
    from rackcheck.session.registry_loading import known  # noqa: PLC0415  the catalogue is needed only for filters

    def kind_of(path: str) -> Kind | None:
        entry = known().catalogue.find(paths.parse(path))
        return entry.kind if entry is not None else None

    if not text:
        return Where()
    try:
        return parse_where(text, kind_of, keys)
    except FilterError as error:
        raise click.UsageError(wrong_where(text, error)) from None


def note_unmatched(where: Where, known_names: Mapping[str, Collection[str]]) -> None:
    """Print a note for each value of a filter that matches no known name of its key, with the nearest name."""
    from rackcheck.session.registry_loading import known  # noqa: PLC0415  as above

    for text in unmatched(where, known_names, known().catalogue.near):
        note(f"--where: {text}")


SEEN = 72
"""Maximum number of characters of a filter that a message shows."""


def wrong_where(text: str, error: FilterError) -> str:
    """Describe an error in a filter in three lines: the message, the filter, and a mark below the error."""
    from rackcheck.session.registry_loading import known  # noqa: PLC0415

    near = known().catalogue.near(error.fact) if error.fact else []
    hint = f"; did you mean {' or '.join(near)}?" if near else did_you_mean(error.word, list(error.known))
    first = max(0, min(error.column - 1 - SEEN // 2, len(text) - SEEN))
    # Every character is replaced by exactly one character, so that the mark is below the error.
    shown = "".join(letter if letter.isprintable() else "?" for letter in text[first : first + SEEN])
    return f"--where: {error}{hint}\n  {shown}\n  {' ' * (error.column - 1 - first)}^"


def _filters(keys: frozenset[str]) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return a function that completes the last term of a filter: its key, its value, or a fact to compare."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, blank, last = incomplete.rpartition(" ")
        head = f"{before}{blank}{'!' * last.startswith('!')}"
        begun = last.removeprefix("!")
        key, colon, word = begun.partition(":")
        if colon:
            *done, word = word.split(",")
            there = [each for each in CLOSED.get(key, ()) if each.startswith(word) and each not in done]
            return [CompletionItem(f"{head}{key}:{','.join([*done, each])}") for each in there]
        found = [CompletionItem(f"{head}{each}:") for each in WORDS if each in keys and each.startswith(begun)]
        if begun and COMPARED in keys:
            found += [CompletionItem(f"{head}{item.value}") for item in complete_facts(ctx, param, begun)]
        return found

    return complete
