"""Text into trees with exact positions."""
