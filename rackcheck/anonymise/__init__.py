"""Anonymisation of captures: texts that identify machines or people are replaced by stand-ins."""
