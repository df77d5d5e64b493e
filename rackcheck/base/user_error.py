"""The exception for errors of the user."""


class UserError(Exception):
    """An error of the user, described in one line; ends a command with exit 2 before any node is contacted."""
