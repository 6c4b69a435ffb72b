"""See it work, without a key and without a network: `python -m interlingua.demo`."""
