"""Runs on the node, with its own Python from 3.6 on: joined into one text by `rackcheck.burnin.pack`, in one namespace.

No file here imports another one; what it needs of it is handed in.
"""
