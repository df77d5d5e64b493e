"""What the kernel was started with."""

from rackcheck import Facts, Shell, collection, flag, listing, probe, setting, spell_key
from rackcheck.parse.host.os.cmdline import SECRET, WITHHELD, arguments


# The node takes the secrets out, so that no capture ever holds them.
@probe(
    Shell(
        f"""sed -E 's/"({SECRET})=[^"]*"/\\1={WITHHELD}/Ig; """
        f"""s/({SECRET})=("[^"]*"|[^ ]*)/\\1={WITHHELD}/Ig' /proc/cmdline""",
        quick=True,
    ),
    gives={
        "cmdline.arguments": listing(
            "Every argument of the kernel's command line, in order; what looks secret is withheld."
        ),
        "cmdline.argument": collection(
            "The kernel's arguments by name; what stands after `--` is init's, not the kernel's."
        ),
        "cmdline.argument/*.value": setting(
            "The argument's value, the last one where it is repeated; absent for a bare word."
        ),
        "cmdline.argument/*.present": flag("True: the argument was given, with or without a value."),
    },
)
def cmdline(answer: str) -> Facts:
    """Read the arguments as the kernel parts them; of a repeated one the last value counts.

    Blanks part arguments, double quotes keep one together; a bare word is present and has no value.
    """
    found = arguments(answer)
    yield "cmdline.arguments", tuple(argument.shown for argument in found)
    for name, value in {argument.name: argument.value for argument in found}.items():
        if name:
            yield f"cmdline.argument/{spell_key(name)}.value", value
            yield f"cmdline.argument/{spell_key(name)}.present", True
