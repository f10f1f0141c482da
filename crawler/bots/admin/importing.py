"""URLs come in by a form: pasted, or as a file."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import chain
from typing import Any

from django import forms
from django.contrib.admin import ModelAdmin
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextareaWidget

from crawler.bots import actions
from crawler.bots.admin.pages import address, page


class ImportForm(forms.Form):
    urls = forms.CharField(
        label="URLs", required=False, widget=UnfoldAdminTextareaWidget, help_text="One a line.", strip=False
    )
    file = forms.FileField(
        label="File",
        required=False,
        allow_empty_file=False,
        widget=UnfoldAdminFileFieldWidget,
        help_text="A text file with one URL a line, or a CSV file whose first column, or column “url”, has them.",
    )

    def clean(self) -> dict[str, Any] | None:
        values = super().clean() or self.cleaned_data
        if not self.errors and not values.get("file") and not (values.get("urls") or "").strip():
            raise forms.ValidationError("Paste URLs, or choose a file.")
        return values

    def lines(self) -> Iterator[str]:
        pasted = io.StringIO(self.cleaned_data["urls"] or "")
        file: UploadedFile[Any] | None = self.cleaned_data["file"]
        return chain(pasted, io.TextIOWrapper(file, "utf-8-sig", "replace") if file else ())


def import_page(admin: ModelAdmin[Any], request: HttpRequest) -> HttpResponse:
    form = ImportForm(request.POST or None, request.FILES or None)
    came = None
    if request.method == "POST" and form.is_valid():
        came = actions.add_product_urls(line.strip() for line in form.lines() if line.strip())
    return page(admin, request, "import.html", "Import URLs", form=form, came=came, back=address(admin))
