"""Data types and pure functions that all packages use: facts, paths, units, versions, captures, profiles.

Nothing here opens a file.
"""
