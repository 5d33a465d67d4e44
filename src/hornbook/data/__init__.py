"""From a table with holes to partial interpretations, a target theory and training sets."""
