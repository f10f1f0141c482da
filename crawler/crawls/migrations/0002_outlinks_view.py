"""The views `outlinks` and `inlinks`."""

from django.db import migrations

from crawler.crawls.outlinks_view import create_views, drop_views


class Migration(migrations.Migration):
    dependencies = [("crawls", "0001_initial")]
    operations = [migrations.RunPython(create_views, drop_views)]
