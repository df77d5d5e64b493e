"""`docs/facts.md`: every fact that a probe gives or a join derives, from the catalogue itself."""

from collections.abc import Iterator

from rackcheck.core.capture import named
from rackcheck.core.catalogue import Entry
from rackcheck.core.path import parse
from rackcheck.core.probe import AnyProbe, Redfish, Shell
from rackcheck.core.read import natural
from rackcheck.registry import Registry

HEAD = """\
# Facts

What rackcheck can know of a node: made from the catalogue (`make schemas`), never by hand. A profile names facts by
these paths; `*` stands for an item's name. *Class* says what may be compared: an identity differs from node to node, a
configuration and a version should not, counters and measurements differ between two readings. A fact that could not
be read is unknown with its reason; one that was looked for and is not there is absent.

"""


def page(registry: Registry) -> str:
    """Write the page."""
    entries = registry.catalogue.entries
    areas: dict[str, list[Entry]] = {}
    for pattern in sorted(entries, key=natural):
        areas.setdefault(parse(pattern.removesuffix(".**")).segments[0].word, []).append(entries[pattern])
    says = ", ".join(f"[{area}](#{area})" for area in areas)
    givers = f"{len(registry.probes)} probes and {len(registry.joins)} joins"
    parts = [f"{HEAD}{len(entries)} facts and collections of {givers}: {says}.\n"]
    parts += ["\n".join((f"\n## {area}\n", *_table(found), "")) for area, found in areas.items()]
    parts.append("\n".join(("\n## Questions\n", *_questions(registry.probes), "")))
    return "".join(parts)


def _table(entries: list[Entry]) -> Iterator[str]:
    yield "| fact | type | class | plane | probe | what it says |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for entry in entries:
        cls = "" if str(entry.kind) == "collection" else entry.kind.cls.value
        words = f" One of: {', '.join(entry.kind.words)}." if entry.kind.words else ""
        cells = (
            f"`{entry.pattern}`",
            str(entry.kind),
            cls,
            entry.plane.value,
            entry.probe,
            f"{entry.kind.help.rstrip('.')}.{words}",
        )
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _questions(probes: tuple[AnyProbe, ...]) -> Iterator[str]:
    """Name each question once, with the probes that read its answer."""
    yield "What is asked, and by whom. A command marked *root* is asked through sudo where the login is not root."
    yield ""
    asked: dict[tuple[str, str], list[str]] = {}
    for probe in probes:
        asked.setdefault(_asked(probe), []).append(probe.name)
    for (what, question), names in sorted(asked.items()):
        yield f"- {', '.join(names)}: {what}\n\n{question}\n"


def _asked(probe: AnyProbe) -> tuple[str, str]:
    ask = probe.ask
    if isinstance(ask, Shell):
        each = f", once for each of `{ask.each}`" if ask.each else ""
        lines = named(ask.command).splitlines()
        return f"command{' as root' if ask.root else ''}{each}", "\n".join(f"      {line}" for line in lines)
    words = ask.links if isinstance(ask, Redfish) else ask.globs
    kind = "Redfish" if isinstance(ask, Redfish) else "files"
    return kind, "\n".join(f"      {word or '/'}" for word in words)


def main() -> None:
    """Write the page that ships: `python -m rackcheck.report.facts_page FOLDER`."""
    import sys  # noqa: PLC0415  only when generating
    from pathlib import Path  # noqa: PLC0415

    from rackcheck.registry import registry  # noqa: PLC0415

    (Path(sys.argv[1]) / "facts.md").write_text(page(registry()), encoding="utf-8")


if __name__ == "__main__":
    main()
