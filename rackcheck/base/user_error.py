"""What our user got wrong."""


class UserError(Exception):
    """Our user's mistake, in one clear line; ends a command with exit 2 before any node is asked."""
