"""Settings in a main file and in folders of further files, as systemd, modprobe and their like keep them."""

from collections.abc import Sequence

from rackcheck.model.text.files import Files


def lines(files: Files, globs: Sequence[str]) -> list[str]:
    """Return the lines of all files without comments and blanks; one in a later folder hides its namesake before it.

    Raises Unreadable if a file or a folder of them cannot be read: what it sets is unknown.
    """
    drops: dict[str, str] = {}
    for glob in globs:
        if "*" in glob:
            drops |= {name: glob.replace("*", name) for (name,) in files.found(glob)}
        elif files.has(glob):
            drops[glob] = glob
    contents = (files.text(place) for place in drops.values())
    return [row for content in contents for line in content.splitlines() if (row := line.partition("#")[0].strip())]
