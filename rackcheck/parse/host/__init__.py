"""Parsers of what a host's tools and files return, in folders by area."""
