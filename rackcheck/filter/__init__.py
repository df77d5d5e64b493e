"""The filter language of commands and screens."""
