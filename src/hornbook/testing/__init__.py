"""Strategies and contract checks that third-party oracles can reuse."""
