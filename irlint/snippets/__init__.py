"""What the text report shows of a model: its lines, its shapes, and where sizes come from."""
