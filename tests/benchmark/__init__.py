"""What dllint costs, beside other linters on the same files."""
