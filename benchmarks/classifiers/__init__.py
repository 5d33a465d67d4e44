"""What the frontier is measured by: tables, models to explain, peers, and what is printed."""
