"""What all wires stand on: items by rows, what came otherwise put back by comparison, and what readers and writers carry."""
