"""Actions behind keys and events: actions, filters, background reading, navigation."""
