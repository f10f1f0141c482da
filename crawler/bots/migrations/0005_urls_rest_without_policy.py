"""URLs whose policy is deleted are not due any more. Django's part only: the tables stay as they are."""

from django.db import migrations, models

import crawler.bots.models.product


class Migration(migrations.Migration):
    dependencies = [
        ("bots", "0004_search_indexes"),
    ]

    operations = [
        migrations.AlterField(
            model_name="producturl",
            name="policy",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=crawler.bots.models.product.let_rest,
                related_name="urls",
                to="bots.crawlpolicy",
            ),
        ),
    ]
