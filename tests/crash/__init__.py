"""Kill the process that writes, at seeded moments, and see what is there after."""
