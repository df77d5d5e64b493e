"""The first hour at a rack: which planes are reachable, what blocks an audit, how to fix it, and what stays unknown."""
