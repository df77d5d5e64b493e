"""Settings in a main file and in folders of further files (drop-ins), as systemd, modprobe and similar programs use."""

from collections.abc import Sequence

from rackcheck.model.text.files import Files


def lines(files: Files, globs: Sequence[str]) -> list[str]:
    """Return the lines of the matching files, without comments; of files with the same name, only the last is read.

    Raises Unreadable if a file or a folder cannot be read, as the settings in it are then unknown.
    """
    drops: dict[str, str] = {}
    for glob in globs:
        if "*" in glob:
            drops |= {name: glob.replace("*", name) for (name,) in files.found(glob)}
        elif files.has(glob):
            drops[glob] = glob
    contents = (files.text(place) for place in drops.values())
    return [row for content in contents for line in content.splitlines() if (row := line.partition("#")[0].strip())]
