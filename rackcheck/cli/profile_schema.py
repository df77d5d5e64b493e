"""`rackcheck profile schema`: the JSON Schema with which an editor completes and explains a profile."""

from pathlib import Path

import click

from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.profile import editor, editor_words
from rackcheck.session.output import note
from rackcheck.session.registry_loading import known


@click.command("schema", epilog="Exit: 0 success, 2 usage error.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="File to write (default: stdout)."
)
@options.profile_path_option
def command(output: Path | None, folders: tuple[Path, ...]) -> None:
    """Write the JSON Schema of profiles for editors.

    It contains the facts of every installed probe, BIOS settings and their values, profiles and sources.
    yaml-language-server, which most editors use, completes and explains them.

    \b
    rackcheck profile schema -o profile.schema.json
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    options.note_closed()
    written = editor.text(editor.schema(known().catalogue, editor_words.here(folders)))
    if output is None:
        click.echo(written, nl=False)
        return
    try:
        output.write_text(written, encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {output}: {error.strerror}") from None
    note(f"{output}: start a profile with the line `# yaml-language-server: $schema={output}`")
