"""``python -m irlint``."""

from irlint.command.entry import main

if __name__ == "__main__":
    main()
