"""The index of runs: an SQLite file read from the run folders, for questions over many of them.

The folders are the truth. No verdict needs the index, and `rackcheck runs rebuild` makes it again from nothing.
"""
