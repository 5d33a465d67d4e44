"""What would change a model's decision about a row."""
