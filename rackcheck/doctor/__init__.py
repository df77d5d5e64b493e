"""First check of a rack: which planes are reachable, what prevents an audit, how to fix it, and what stays unknown."""
