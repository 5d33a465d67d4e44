"""Learners: generators of hypotheses, driven by queries."""
