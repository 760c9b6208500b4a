"""One planner a file; adding a file adds the policy."""
