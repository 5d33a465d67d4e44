"""Who answers queries: models, theories, samplers, and what wraps them."""
