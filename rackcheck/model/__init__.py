"""Data types and pure functions that all packages use: facts, paths, units, versions, captures, profiles.

No module of this package opens a file.
"""
