"""Reads models from stores and servers with fsspec; only the needed bytes are fetched."""
