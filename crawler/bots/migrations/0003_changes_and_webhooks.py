import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import crawler.bots.exact
import crawler.bots.hash_field
import crawler.bots.models.url_start
import crawler.foundation.ids


class Migration(migrations.Migration):
    dependencies = [
        ("bots", "0002_storage"),
        ("domains", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="ProductChange",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("number", models.BigIntegerField(null=True, unique=True)),
                ("published_at", models.DateTimeField(null=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("price_up", "the price went up"),
                            ("price_down", "the price went down"),
                            ("currency_changed", "the price is in another currency"),
                            ("back_in_stock", "it can be bought again"),
                            ("out_of_stock", "it cannot be bought any more"),
                        ],
                        max_length=16,
                    ),
                ),
                ("product_url_hash", crawler.bots.hash_field.HashField(max_length=64)),
                ("result_id", models.UUIDField()),
                ("url", models.TextField()),
                ("title", models.TextField(blank=True, db_default="", default="")),
                ("price", crawler.bots.exact.PriceField(decimal_places=6, max_digits=18)),
                ("currency", models.CharField(max_length=3)),
                ("in_stock", models.BooleanField()),
                ("previous_price", crawler.bots.exact.PriceField(decimal_places=6, max_digits=18)),
                ("previous_currency", models.CharField(max_length=3)),
                ("previous_in_stock", models.BooleanField()),
                ("percent_at_most", crawler.bots.exact.PriceField(decimal_places=6, max_digits=18, null=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
                ),
            ],
            options={
                "verbose_name": "product change",
                "db_table": "product_changes",
                "ordering": ("-id",),
            },
        ),
        migrations.CreateModel(
            name="Webhook",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=crawler.foundation.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("url", models.TextField()),
                ("description", models.CharField(blank=True, db_default="", default="", max_length=200)),
                ("events", models.JSONField(default=list)),
                ("min_percent", crawler.bots.exact.PriceField(decimal_places=6, default=0, max_digits=18)),
                ("secret", models.CharField(max_length=200)),
                ("enabled", models.BooleanField(db_default=True, default=True)),
                ("failing_since", models.DateTimeField(editable=False, null=True)),
                ("note", models.TextField(blank=True, db_default="", default="", editable=False)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
                ),
            ],
            options={
                "db_table": "webhooks",
                "ordering": ("created_at", "id"),
            },
        ),
        migrations.CreateModel(
            name="WebhookDelivery",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=crawler.foundation.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("event", models.CharField(max_length=16)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "is due at next_attempt_at"),
                            ("delivered", "was answered with 2xx"),
                            ("failed", "was given up"),
                        ],
                        db_default="pending",
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(db_default=0, default=0)),
                (
                    "next_attempt_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), null=True),
                ),
                ("claimed_by", models.CharField(max_length=255, null=True)),
                ("claim_expires_at", models.DateTimeField(null=True)),
                ("version", models.IntegerField(db_default=0, default=0)),
                ("attempted_at", models.DateTimeField(null=True)),
                ("response_status", models.PositiveSmallIntegerField(null=True)),
                ("response_excerpt", models.TextField(blank=True, db_default="", default="")),
                ("error", models.TextField(blank=True, db_default="", default="")),
                ("milliseconds", models.PositiveIntegerField(null=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
                ),
            ],
            options={
                "verbose_name": "webhook delivery",
                "verbose_name_plural": "webhook deliveries",
                "db_table": "webhook_deliveries",
                "ordering": ("-id",),
            },
        ),
        migrations.AddField(
            model_name="producturl",
            name="last_changed_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AlterField(
            model_name="producturl",
            name="domain",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="product_urls",
                to="domains.domain",
            ),
        ),
        migrations.AddIndex(
            model_name="producturl",
            index=models.Index(
                models.F("domain"),
                crawler.bots.models.url_start.UrlStart("url"),
                name="product_urls_of_domain",
            ),
        ),
        migrations.AddIndex(
            model_name="producturl",
            index=models.Index(
                condition=models.Q(("last_price", None), _negated=True),
                fields=["last_price", "url_hash"],
                name="product_urls_by_price",
            ),
        ),
        migrations.AddIndex(
            model_name="producturl",
            index=models.Index(
                condition=models.Q(("last_changed_at", None), _negated=True),
                fields=["last_changed_at", "url_hash"],
                name="product_urls_by_change",
            ),
        ),
        migrations.AddField(
            model_name="productchange",
            name="domain",
            field=models.ForeignKey(
                db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, to="domains.domain"
            ),
        ),
        migrations.AddField(
            model_name="webhook",
            name="domain",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.CASCADE, related_name="webhooks", to="domains.domain"
            ),
        ),
        migrations.AddField(
            model_name="webhook",
            name="policy",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.CASCADE, related_name="webhooks", to="bots.crawlpolicy"
            ),
        ),
        migrations.AddField(
            model_name="webhookdelivery",
            name="change",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="deliveries",
                to="bots.productchange",
            ),
        ),
        migrations.AddField(
            model_name="webhookdelivery",
            name="webhook",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="deliveries",
                to="bots.webhook",
            ),
        ),
        migrations.AddIndex(
            model_name="productchange",
            index=models.Index(condition=models.Q(("number", None)), fields=["id"], name="product_changes_unpublished"),
        ),
        migrations.AddIndex(
            model_name="productchange",
            index=models.Index(fields=["product_url_hash", "number"], name="product_changes_product"),
        ),
        migrations.AddIndex(
            model_name="productchange",
            index=models.Index(fields=["domain", "number"], name="product_changes_domain"),
        ),
        migrations.AddIndex(
            model_name="productchange",
            index=models.Index(fields=["published_at", "number"], name="product_changes_published"),
        ),
        migrations.AddConstraint(
            model_name="webhook",
            constraint=models.CheckConstraint(condition=models.Q(("min_percent__gte", 0)), name="webhooks_min_percent"),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(
                condition=models.Q(("status", "pending")),
                fields=["webhook", "next_attempt_at"],
                name="webhook_deliveries_due",
            ),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(fields=["webhook", "-id"], name="webhook_deliveries_newest"),
        ),
        migrations.AddConstraint(
            model_name="webhookdelivery",
            constraint=models.UniqueConstraint(fields=("webhook", "change"), name="webhook_deliveries_once"),
        ),
        migrations.AddConstraint(
            model_name="webhookdelivery",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["pending", "delivered", "failed"])), name="webhook_deliveries_status"
            ),
        ),
    ]
