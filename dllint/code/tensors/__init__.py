"""Tensors: their devices, storages and sizes, and how they reach the main process."""
