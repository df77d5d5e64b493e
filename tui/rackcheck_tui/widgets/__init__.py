"""Widgets: tables, charts, panels, dialogs, and the texts and marks in them."""
