"""What several wires have in messages and offer to a model: media, citations, tools and their schemas."""
