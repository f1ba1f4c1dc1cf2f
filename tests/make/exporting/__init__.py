"""Fresh exports of many exporters, and what irlint's answers about them are worth: ``tests/make/exports.py`` runs
both."""
