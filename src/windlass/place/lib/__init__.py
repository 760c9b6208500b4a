"""What placement policies and the functions on arrays share: solvers of a stage, rounding, fair sharing."""
