"""Horn logic over partial interpretations."""
