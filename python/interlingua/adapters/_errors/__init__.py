"""Read and write errors."""
