"""The index of runs: an SQLite file built from the run folders, for queries over many of them.

The folders are authoritative. No verdict needs the index, and `rackcheck runs rebuild` builds it again from scratch.
"""
