from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_save


class BotsConfig(AppConfig):
    name = "crawler.bots"
    verbose_name = "Bots"

    def ready(self) -> None:
        post_save.connect(wake_waiting_pulls, sender="bots.CrawlJob", dispatch_uid="bots.wake_waiting_pulls")


def wake_waiting_pulls(**_: Any) -> None:
    """A job that was made or changed one by one; actions that make many do it themselves."""
    from crawler.bots import waiting

    waiting.wake()
