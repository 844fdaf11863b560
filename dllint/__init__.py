"""dllint finds what makes PyTorch DataLoader workers crash, stall, leak or yield wrong data, without running it."""

__version__ = "0.1.0"
