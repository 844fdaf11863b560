"""Loaders: where they are built, with which arguments, and what main does with them and their batches."""
