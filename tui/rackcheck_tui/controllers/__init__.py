"""What keys and events do: actions, filters, background reading, navigation."""
