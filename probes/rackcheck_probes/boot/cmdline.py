"""Parameters that the kernel was started with."""

from rackcheck import Facts, Shell, collection, flag, listing, probe, setting, spell_key
from rackcheck.parse.host.os.cmdline import SECRET, WITHHELD, arguments


# Secrets are removed on the node, so that no capture contains them.
@probe(
    Shell(
        f"""sed -E 's/"({SECRET})=[^"]*"/\\1={WITHHELD}/Ig; """
        f"""s/({SECRET})=("[^"]*"|[^ ]*)/\\1={WITHHELD}/Ig' /proc/cmdline""",
        quick=True,
    ),
    gives={
        "cmdline.arguments": listing(
            "Every argument of the kernel's command line, in order; values that look secret are withheld."
        ),
        "cmdline.argument": collection(
            "The kernel's arguments by name; arguments after `--` belong to init, not to the kernel."
        ),
        "cmdline.argument/*.value": setting(
            "The argument's value, the last one if the argument is repeated; absent for an argument without a value."
        ),
        "cmdline.argument/*.present": flag("True: the argument is present, with or without a value."),
    },
)
def cmdline(answer: str) -> Facts:
    """Read the arguments as the kernel splits them; the last value of a repeated argument counts.

    Blanks separate arguments, and double quotes keep an argument with blanks together. For an argument without `=`, the
    fact `present` is true and the fact `value` is absent.
    """
    found = arguments(answer)
    yield "cmdline.arguments", tuple(argument.shown for argument in found)
    for name, value in {argument.name: argument.value for argument in found}.items():
        if name:
            yield f"cmdline.argument/{spell_key(name)}.value", value
            yield f"cmdline.argument/{spell_key(name)}.present", True
