"""Limits of options, apart from the modules that use them, so that an option's help imports none of these."""

LONGEST_WAIT = 86_400
"""Maximum number of seconds between two readings, and maximum duration of a run in seconds."""
