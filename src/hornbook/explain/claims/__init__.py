"""Whether a model keeps to claims: conditions about columns, rules over variables."""
