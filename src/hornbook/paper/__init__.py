"""The paper, end to end: its task, networks, architecture search, stages, summary and report."""
