"""Parsers of what hosts, BMCs and burn-ins return. Pure."""
