"""The views: each makes its rows from the run as it stands, and asks nobody."""
