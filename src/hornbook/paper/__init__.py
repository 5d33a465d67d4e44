"""The reproduction of the paper: task, architecture search, stages, summary and report."""
