"""The device files through which programs use IMEX."""

from rackcheck import Facts, Shell, Unreadable, integer, probe, read

FOLDER = "/dev/nvidia-caps-imex-channels"


@probe(
    Shell(
        f'n=0; for f in {FOLDER}/channel*; do [ ! -c "$f" ] || n=$((n + 1)); done\n'
        f"[ ! -e {FOLDER} ] || {{ [ -r {FOLDER} ] && [ -x {FOLDER} ]; }} || "
        f'{{ echo "{FOLDER}: permission denied" >&2; exit 1; }}\n'
        'echo "channels $n"',
        quick=True,
    ),
    gives={
        "driver.imex.channels": integer(
            "Device files of IMEX channels; without a device file, programs cannot share memory."
        )
    },
)
def imex_channels(answer: str) -> Facts:
    """Read the number of device files of IMEX channels."""
    word, _, number = read.line(answer).partition(" ")
    if word != "channels" or not answer.endswith("\n"):
        raise Unreadable(f"not a number of channels: {answer[:80]!r}")
    yield "driver.imex.channels", read.whole(number)
