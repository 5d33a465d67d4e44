"""Where two models disagree, or a model and the truth."""
