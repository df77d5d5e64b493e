"""`rackcheck profile schema`: what an editor needs to complete and explain a profile while it is written."""

from pathlib import Path

import click

from rackcheck.base.user_error import UserError
from rackcheck.cli import options
from rackcheck.profile import editor, editor_words
from rackcheck.session.output import note
from rackcheck.session.registry_loading import known


@click.command("schema", epilog="Exit: 0 written, 2 your mistake.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="File to write (default: stdout)."
)
@options.profile_path_option
def command(output: Path | None, folders: tuple[Path, ...]) -> None:
    """Write the JSON Schema of profiles for editors.

    It knows the facts of every probe that is installed here, BIOS settings and their words, profiles and sources.
    yaml-language-server, which most editors use, completes and explains them by it.

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
    note(f"{output}: begin a profile with the line `# yaml-language-server: $schema={output}`")
