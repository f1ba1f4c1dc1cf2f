"""A form of the report is one row and one module."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

from irlint.reporters.forms import FORMS, Form


@pytest.mark.parametrize("form", FORMS.values(), ids=lambda form: form.name)
def test_row_fits_its_module(form: Form) -> None:
    module = import_module(f"irlint.reporters.{form.name}")
    report, *parameters = inspect.signature(module.rendered).parameters
    assert report == "report"
    assert set(form.takes) == set(parameters)
    assert bool(form.page) == hasattr(module, "page")
    assert form.purpose
