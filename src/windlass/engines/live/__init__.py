"""Jobs over sites on any executor: the engine, its book of tasks, data and workers, and what tasks do."""
