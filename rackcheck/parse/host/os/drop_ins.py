"""Settings in a main file and in folders of further files, as systemd, modprobe and similar programs keep them."""

from collections.abc import Sequence

from rackcheck.model.text.files import Files


def lines(files: Files, globs: Sequence[str]) -> list[str]:
    """Return the lines of these files without comments and blanks; later files replace earlier ones of the same name.

    Raises Unreadable if a file or a folder cannot be read: its settings are unknown.
    """
    drops: dict[str, str] = {}
    for glob in globs:
        if "*" in glob:
            drops |= {name: glob.replace("*", name) for (name,) in files.found(glob)}
        elif files.has(glob):
            drops[glob] = glob
    contents = (files.text(place) for place in drops.values())
    return [row for content in contents for line in content.splitlines() if (row := line.partition("#")[0].strip())]
