"""``python -m irlint``."""

from irlint.cli import main

if __name__ == "__main__":
    main()
