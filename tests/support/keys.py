"""Keys made by ssh-keygen."""

import subprocess


def keygen(*words: object) -> None:
    subprocess.run(["ssh-keygen", *map(str, words)], check=True, stdout=subprocess.DEVNULL)
