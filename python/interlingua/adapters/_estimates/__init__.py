"""How many tokens a request takes."""
