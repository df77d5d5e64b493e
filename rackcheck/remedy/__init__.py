"""What would mend a finding, for review; nothing is ever applied."""
