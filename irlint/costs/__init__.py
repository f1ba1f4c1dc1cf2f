"""What a model costs: parameters, bytes, MACs and peak activation memory, as expressions of its dynamic sizes."""
