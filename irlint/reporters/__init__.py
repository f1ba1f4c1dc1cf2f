"""The forms in which a report is printed: each is a function from a report to text."""
