"""The views: each one builds its rows from the run's current state, and contacts no node."""
