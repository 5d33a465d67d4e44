"""Experiments: networks, their training and selection, and what the paper reports about them."""
