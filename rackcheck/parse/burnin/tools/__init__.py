"""Parsers of the output of tools on a node during a burn-in: one module per tool, from a `tool` record. Pure."""
