"""Models that lie in a store or on a server: fsspec reaches them, and of each only the bytes that are needed are
read."""
