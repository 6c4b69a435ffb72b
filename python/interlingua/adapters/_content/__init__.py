"""Contents of messages and requests that several wires share: media, citations, tools and their schemas."""
