"""What several modules of a program share: library_leaks.py imports the names."""

REPLIES = {}
