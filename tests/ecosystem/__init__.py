"""What dllint finds in packages that others wrote, pinned, with a verdict for each finding."""
