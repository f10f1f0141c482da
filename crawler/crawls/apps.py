from django.apps import AppConfig


class CrawlsConfig(AppConfig):
    name = "crawler.crawls"
    verbose_name = "Crawls"
