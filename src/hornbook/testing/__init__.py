"""Strategies and contract tests that tests of other packages can reuse."""
