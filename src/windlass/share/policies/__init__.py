"""One policy of sharing a file; adding a file adds the policy."""
