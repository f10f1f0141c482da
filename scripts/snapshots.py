"""Writes the OpenAPI descriptions that tests/api/test_openapi.py and test_bots_openapi.py compare with."""

import json
import os
import tempfile
from importlib import import_module
from pathlib import Path

os.environ["DJANGO_SETTINGS_MODULE"] = "crawler.project.settings"
os.environ["CRAWLER_HOME"] = tempfile.mkdtemp()

import django

django.setup()
apis = {
    "openapi_v1.json": import_module("crawler.project.api").api,
    "openapi_crawl.json": import_module("crawler.project.bots_api").bots_api,
}
for name, api in apis.items():
    target = Path(__file__).resolve().parent.parent / "tests" / "api" / name
    target.write_text(json.dumps(api.get_openapi_schema(), indent=2) + "\n")
    print(f"wrote {target.name}")
