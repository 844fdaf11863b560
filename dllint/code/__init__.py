"""What the Python of a project means: its values, datasets, loaders, and what runs in workers."""
