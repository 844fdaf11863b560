"""What will run where: each container that a project starts, its shared memory, and what its code needs."""
