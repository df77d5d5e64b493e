"""All required arguments and options that a command line lacks, in one usage error; click reports only the first."""

import click

ARGS = "rackcheck.args"
"""The key of `click.Context.meta` under which the words after the name of the first command are kept."""


def all_missing(error: click.MissingParameter) -> click.UsageError:
    """Return an error that names every missing argument and option; the error itself if only one is missing."""
    ctx = error.ctx
    if ctx is None or ARGS not in ctx.meta:
        return error
    words = list(ctx.meta[ARGS])[_depth(ctx) - 1 :]
    given, _, _ = ctx.command.make_parser(ctx).parse_args(args=words)
    missing = [
        f"{param.param_type_name} {param.get_error_hint(ctx)}"
        for param in ctx.command.get_params(ctx)
        if param.required and param.value_is_missing(param.consume_value(ctx, given)[0])
    ]
    if len(missing) < 2:
        return error
    return click.UsageError(f"Missing {', '.join(missing[:-1])} and {missing[-1]}.", ctx)


def _depth(ctx: click.Context) -> int:
    """Return the number of command names before the words of a command: 1 for `sign`, 2 for `accept new`."""
    return 0 if ctx.parent is None else 1 + _depth(ctx.parent)
