"""One policy of scaling a file; adding a file adds the policy."""
