"""URLs come in by a form: pasted, or as a file."""

from __future__ import annotations

import io
from typing import Any

from django import forms
from django.contrib.admin import ModelAdmin
from django.http import HttpRequest, HttpResponse
from unfold.widgets import (
    UnfoldAdminFileFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminTextareaWidget,
    UnfoldBooleanSwitchWidget,
)

from crawler.accounts.admin import actor
from crawler.bots.admin.pages import address, explained, page
from crawler.bots.products.files import Form
from crawler.bots.products.importing import ImportSummary, import_product_urls
from crawler.foundation.errors import Problem

LONGEST_FREQUENCY_HOURS = 24 * 366


class ImportForm(forms.Form):
    urls = forms.CharField(
        label="URLs", required=False, widget=UnfoldAdminTextareaWidget, help_text="One a line.", strip=False
    )
    file = forms.FileField(
        label="Or a file",
        required=False,
        widget=UnfoldAdminFileFieldWidget,
        help_text="Text with a URL a line, CSV with a column url, NDJSON or JSON; packed by gzip or not. For millions"
        " of URLs, “crawler products import FILE” shows how far it is.",
    )
    frequency_hours = forms.IntegerField(
        label="Visit every … hours",
        required=False,
        min_value=1,
        max_value=LONGEST_FREQUENCY_HOURS,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Makes a policy named Default for each domain that has none. Empty: its URLs wait for a policy.",
    )
    dry_run = forms.BooleanField(label="Only say what would happen", required=False, widget=UnfoldBooleanSwitchWidget)

    def clean(self) -> dict[str, Any] | None:
        values = super().clean() or self.cleaned_data
        if not self.errors and not values.get("file") and not (values.get("urls") or "").strip():
            raise forms.ValidationError("Paste URLs, or choose a file.")
        if values.get("file") and (values.get("urls") or "").strip():
            raise forms.ValidationError("Paste URLs or choose a file, not both.")
        return values


def import_page(admin: ModelAdmin[Any], request: HttpRequest) -> HttpResponse:
    form = ImportForm(request.POST or None, request.FILES or None)
    came = None
    if request.method == "POST" and form.is_valid():
        try:
            came = _imported(request, form.cleaned_data)
        except Problem as problem:
            form.add_error("file" if form.cleaned_data["file"] else "urls", explained(problem))
    return page(admin, request, "import.html", "Import URLs", form=form, came=came, back=address(admin))


def _imported(request: HttpRequest, values: dict[str, Any]) -> ImportSummary:
    options = {"by": actor(request), "frequency_hours": values["frequency_hours"], "dry_run": values["dry_run"]}
    if file := values["file"]:
        return import_product_urls(file, name=file.name, **options)
    return import_product_urls(io.BytesIO(values["urls"].encode()), name="pasted", form=Form.TEXT, **options)
