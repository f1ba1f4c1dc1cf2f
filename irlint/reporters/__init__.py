"""The forms of a report, such as text, JSON and SARIF."""
