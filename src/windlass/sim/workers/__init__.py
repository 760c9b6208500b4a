"""The part of small tasks on many workers: queues with two lanes, and what schedulers see of them."""
