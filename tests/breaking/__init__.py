"""Sound models broken as people break them, and the engines that are asked about the result."""
