"""What dispatch policies share: alias tables, bandits, the learner of rates, draws in proportion to rates."""
