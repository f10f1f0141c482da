"""What people look for in the admin pages, at millions of rows. Of jobs only those that are over or were tried."""

from django.db import migrations, models

import crawler.bots.states


class Migration(migrations.Migration):
    dependencies = [
        ("bots", "0003_changes_and_webhooks"),
        ("domains", "0001_initial"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="crawljob",
            name="bot_jobs_lost",
        ),
        migrations.AddIndex(
            model_name="crawljob",
            index=models.Index(
                condition=models.Q(
                    (
                        "status__in",
                        (
                            crawler.bots.states.JobState["DONE"],
                            crawler.bots.states.JobState["FAILED"],
                            crawler.bots.states.JobState["EXPIRED"],
                        ),
                    )
                ),
                fields=["status", "-created_at"],
                name="bot_jobs_closed",
            ),
        ),
        migrations.AddIndex(
            model_name="crawljob",
            index=models.Index(
                condition=models.Q(
                    (
                        "status__in",
                        (
                            crawler.bots.states.JobState["DONE"],
                            crawler.bots.states.JobState["FAILED"],
                            crawler.bots.states.JobState["EXPIRED"],
                        ),
                    )
                ),
                fields=["domain", "-created_at"],
                name="bot_jobs_closed_domain",
            ),
        ),
        migrations.AddIndex(
            model_name="crawljob",
            index=models.Index(
                condition=models.Q(
                    (
                        "status__in",
                        (
                            crawler.bots.states.JobState["DONE"],
                            crawler.bots.states.JobState["FAILED"],
                            crawler.bots.states.JobState["EXPIRED"],
                        ),
                    )
                ),
                fields=["last_locked_by", "-created_at"],
                name="bot_jobs_closed_bot",
            ),
        ),
        migrations.AddIndex(
            model_name="crawljob",
            index=models.Index(
                condition=models.Q(
                    ("last_locked_by__isnull", False), ("status", crawler.bots.states.JobState["PENDING"])
                ),
                fields=["last_locked_by"],
                name="bot_jobs_tried",
            ),
        ),
        migrations.AddIndex(
            model_name="crawljob",
            index=models.Index(
                condition=models.Q(
                    ("status__in", (crawler.bots.states.JobState["FAILED"], crawler.bots.states.JobState["EXPIRED"]))
                ),
                fields=["product_url_hash"],
                name="bot_jobs_lost_url",
            ),
        ),
        migrations.AddIndex(
            model_name="crawljob",
            index=models.Index(
                condition=models.Q(("status", crawler.bots.states.JobState["FAILED"])),
                fields=["last_locked_by", "finished_at"],
                name="bot_jobs_failed_bot",
            ),
        ),
        migrations.AddIndex(
            model_name="crawlresult",
            index=models.Index(fields=["bot_id", "-id"], name="crawl_results_bot"),
        ),
    ]
