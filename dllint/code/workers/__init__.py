"""Worker code: the datasets, what is reached from them, what they carry along, and what they do for each sample."""
