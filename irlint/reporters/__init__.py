"""The forms of a report (text, JSON, SARIF and others). Each module renders a report as text."""
