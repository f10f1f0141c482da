from typing import Any

from django.core.management.base import BaseCommand

from crawler.bots import actions


class Command(BaseCommand):
    help = "End the locks of bot jobs whose time is over, now. The scheduler does the same every few seconds."

    def handle(self, *args: Any, **options: Any) -> None:
        count = actions.expire_overdue()
        self.stdout.write(f"ended {count} {'lock' if count == 1 else 'locks'}")
