"""Facts from both planes of a node, and from all nodes of a rack or fleet."""
