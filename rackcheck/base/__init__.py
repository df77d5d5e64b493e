"""Modules that every package may use: errors, state folders, limited reading of files, names."""
