"""What happens next: a heap of events of any kind, and a winner tree where each owner has one."""
