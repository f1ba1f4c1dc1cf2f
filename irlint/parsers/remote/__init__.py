"""Reads models from stores and servers with fsspec. Fetches only the needed bytes."""
