"""Captures without what identifies their machines."""
