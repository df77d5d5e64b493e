"""`rackcheck init`: from an empty folder to the first audit, step by step, with the commands of each step shown."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile

import click

from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.inventory import NODES, importers, load, unfold
from rackcheck.inventory.importers.taken import BMC_PASSWORD, Taken
from rackcheck.inventory.reading import parse
from rackcheck.inventory.trusted import certificates_of, known_hosts_of
from rackcheck.model.fact import clean
from rackcheck.model.regex import regex
from rackcheck.profile.document import BadFile
from rackcheck.session.output import note
from rackcheck.views.summary import several

NONE = "none"
"""The answer for nodes without a BMC."""

BARE: Mapping[str, str] = {
    "nodes": "", "host": "{node}", "user": "", "bmc": NONE, "bmc_user": "", "bmc_password": "",
    "rack": "", "port": "", "key": "",
}  # fmt: skip
"""What stands for an answer that was not given yet, when the earlier answers are checked."""

RANGE = regex(r"\[[0-9]+(?:[-,][0-9]+)*\]")
"""Regular expression for a range of numbers in an address, such as `[11-18]`; an IPv6 address has colons."""

TRUST = ("inventory", "trust")

STEPS: Mapping[str, tuple[str, ...]] = {
    "Show the host keys and certificates of all nodes, and trust them after one yes?": TRUST,
    "Check who answers, and what will be unknown?": ("doctor",),
    "Read all nodes, and judge them?": ("audit",),
}
"""What follows the inventory, with the command of each step."""


@click.command(epilog="Exit: 0 the inventory was written, 2 usage error; else that of the last step.")
@click.option("--nodes", metavar="SET", help="Names of the nodes, such as dgx[01-08].")
@click.option(
    "--host", metavar="ADDRESS",
    help="Address of a node's SSH server; {node} is the node's name, and 10.9.3.[11-18] has one address for each node.",
)  # fmt: skip
@click.option("--port", metavar="PORT", default="", help="Port of the SSH servers, if it is not 22.")
@click.option("--bmc", metavar="URL", help="URL of a node's BMC, with {node} or a range as above, or `none`.")
@click.option("--user", metavar="NAME", help="User for SSH.")
@click.option("--key", metavar="FILE", default="", help="Private key for SSH (default: as in your SSH configuration).")
@click.option("--bmc-user", metavar="NAME", help="User of the BMCs.")
@click.option(
    "--bmc-password", metavar="REFERENCE", help="Where the BMCs' password is: env:NAME, file:PATH, prompt:TEXT."
)
@click.option("--rack", metavar="NAME", default="", help="Rack of the nodes.")
@click.option(
    "-o", "--output", default="inventory.yaml", show_default=True, metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False), help="File to write; an existing file is not overwritten.",
)  # fmt: skip
@click.option("--only", is_flag=True, help="Write the inventory only; do not go on to the next step.")
@options.collected(dict)
def init(given: dict[str, str | Path | bool | None]) -> int:
    """Write an inventory from a few answers, and go on to the first audit.

    Each step is a command that is shown before it runs, and runs after a yes. Without a terminal, options take the
    place of the answers, and only the inventory is written. On a terminal, an invalid answer is asked again.

    \b
    rackcheck init
    rackcheck init --nodes 'dgx[01-08]' --bmc 'https://{node}-bmc'
    rackcheck init --nodes 'dgx[01-08]' --bmc 'https://10.9.3.[11-18]'
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    output, only = given.pop("output"), given.pop("only")
    assert isinstance(output, Path)
    if output.exists():
        raise UserError(f"{output} exists already: go on with rackcheck inventory trust -i {shlex.quote(str(output))}")
    _check_folder(output)
    text = _text(_answers({name: str(value or "") for name, value in given.items()}))
    parse(text, str(output), output.parent)
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UserError(f"cannot write {output}: {error.strerror}") from None
    note(f"{output}: {several(len(load(output).nodes), 'node')}")
    return 0 if only else _steps(output)


def _answers(given: Mapping[str, str]) -> Mapping[str, str]:
    """Return all answers: those given as options, and on a terminal those to questions for the others."""
    terminal = sys.stdin.isatty()
    found = dict(BARE)

    def ask(name: str, question: str, usual: str) -> None:
        if given[name] or not terminal:
            found[name] = given[name] or usual
            if terminal:
                _check(found)
            return

        def checked(answer: str) -> str:
            """Return the answer; raises UsageError, after which click shows the reason and asks again."""
            try:
                _check({**found, name: answer.strip()})
            except UserError as error:
                raise click.UsageError(str(error)) from None
            return answer.strip()

        default = None if name == "nodes" else usual
        found[name] = click.prompt(question, default, show_default=bool(usual), err=True, value_proc=checked)

    if not given["nodes"] and not terminal:
        raise click.UsageError("without a terminal, name the nodes: --nodes SET")
    ask("nodes", "Nodes, such as dgx[01-08]", "")
    ask("host", "Address of a node's SSH server ({node} is its name; or a range)", "{node}")
    ask("user", "User for SSH (empty: as in your SSH configuration)", "")
    ask("bmc", f"URL of a node's BMC, or {NONE}", "https://{node}-bmc" if terminal else NONE)
    if found["bmc"] != NONE:
        ask("bmc_user", "User of the BMCs", "audit")
        ask("bmc_password", "Where the BMCs' password is (never the password itself)", BMC_PASSWORD)
    return {**found, **{name: given[name] for name in ("rack", "port", "key")}}


def _check_folder(output: Path) -> None:
    """Raise UserError if no file can be written beside `output`, before any question is asked."""
    try:
        with TemporaryFile(dir=output.parent):
            pass
    except OSError as error:
        raise UserError(f"cannot write {output}: {error.strerror}") from None


def _check(answers: Mapping[str, str]) -> None:
    """Raise UserError with the first reason why no inventory can be made of these answers."""
    text = _text(answers)
    try:
        parse(text, "the answers", Path())
    except BadFile as error:
        raise UserError(error.problems[0].text) from None


def _text(answers: Mapping[str, str]) -> str:
    """Return the inventory; raises UserError for an invalid set of nodes."""
    names = unfold(answers["nodes"])
    if not names:
        raise UserError(f"no node is in {clean(answers['nodes'], 80)!r}")
    if len(names) > NODES:
        raise UserError(f"{len(names)} nodes; the maximum of an inventory is {NODES}")
    words = {
        "ssh.user": answers["user"],
        "ssh.port": answers["port"],
        "ssh.key": answers["key"],
        "rack": answers["rack"],
    }
    addresses = {"host": _addresses("host", answers["host"], names)}
    if answers["bmc"] != NONE:
        addresses["bmc.url"] = _addresses("bmc", answers["bmc"], names)
        words |= {"bmc.user": answers["bmc_user"], "bmc.password": answers["bmc_password"]}
    nodes = {
        name: {**{key: found[name] for key, found in addresses.items()}, **{key: t for key, t in words.items() if t}}
        for name in names
    }
    return importers.written(Taken(nodes, {}, ()), "the answers to rackcheck init")


def _addresses(option: str, text: str, names: Sequence[str]) -> Mapping[str, str]:
    """Return the address of each node: the text with the node's name, or in order the addresses of a range.

    Raises UserError if a range has not as many addresses as there are nodes.
    """
    found = RANGE.search(text)
    if found is None:
        return {name: text.replace("{node}", name) for name in names}
    numbers = [each.removeprefix("n") for each in unfold(f"n{found[0]}")]
    if len(numbers) != len(names):
        raise UserError(f"--{option} {clean(text, 80)}: {len(numbers)} in the range, for {len(names)} nodes")
    return {name: f"{text[: found.start()]}{n}{text[found.end() :]}" for name, n in zip(names, numbers, strict=True)}


def _steps(output: Path) -> int:
    """Offer the next commands one after the other on a terminal; else print the first of them."""
    status = 0
    for question, words in STEPS.items():
        line = (*words, "-i", str(output))
        shown = f"rackcheck {shlex.join(line)}"
        try:
            if not sys.stdin.isatty() or not click.confirm(f"{question}\n$ {shown}", default=True, err=True):
                note(f"Next: {shown}")
                return status
            status = _run(line)
        except (click.Abort, KeyboardInterrupt):
            note("")  # the answer was not ended by a new line
            note(f"Next: {shown}")
            raise
        if status == 2:
            return status
        if words == TRUST and status != 0 and not _has_trust(output):
            note("no key or certificate is trusted yet, and an audit needs them")
            note(f"Next: {shown}")
            return 0
    return status


def _has_trust(output: Path) -> bool:
    return known_hosts_of(output).exists() or certificates_of(output).exists()


def _run(words: Sequence[str]) -> int:
    from rackcheck.cli import cli  # noqa: PLC0415  the group that this command belongs to

    return int(cli.main(list(words), prog_name="rackcheck", standalone_mode=False) or 0)
