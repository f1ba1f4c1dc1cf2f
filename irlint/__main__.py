"""``python -m irlint``."""

from irlint.entry import main

if __name__ == "__main__":
    main()
