"""A choice among words, whose error names the nearest word beside all words."""

import click


class NearestChoice(click.Choice[str]):
    """`click.Choice` for texts, with the nearest word in the error of a mistyped one."""

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        """Return the error: `'md' is not one of 'html', 'markdown'; did you mean markdown?`."""
        from rackcheck.profile.layers import did_you_mean  # noqa: PLC0415  errors only

        message = super().get_invalid_choice_message(value, ctx)
        near = did_you_mean(str(value), self.choices)
        return f"{message.removesuffix('.')}{near}" if near else message
