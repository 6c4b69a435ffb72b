"""The canonical values: plain data, typed; their ids, rules, losses and folds. Imports nothing else of Interlingua."""
