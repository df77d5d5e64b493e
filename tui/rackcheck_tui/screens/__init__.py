"""The views: each builds its rows from the run as it stands, and contacts no node."""
