"""What commands share: subjects, prepared jobs, stored runs, output."""
