from django.apps import AppConfig


class DomainsConfig(AppConfig):
    name = "crawler.domains"
    verbose_name = "Domains"
