from django.apps import AppConfig


class BotsConfig(AppConfig):
    name = "crawler.bots"
    verbose_name = "Bots"
