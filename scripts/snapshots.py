"""Writes the OpenAPI description that tests/api/test_openapi.py compares with."""

import json
import os
import tempfile
from importlib import import_module
from pathlib import Path

os.environ["DJANGO_SETTINGS_MODULE"] = "crawler.project.settings"
os.environ["CRAWLER_HOME"] = tempfile.mkdtemp()

import django

django.setup()
api = import_module("crawler.project.api").api

target = Path(__file__).resolve().parent.parent / "tests" / "api" / "openapi_v1.json"
target.write_text(json.dumps(api.get_openapi_schema(), indent=2) + "\n")
print(f"wrote {target.name}")
