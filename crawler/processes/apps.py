from django.apps import AppConfig


class ProcessesConfig(AppConfig):
    name = "crawler.processes"
    verbose_name = "Processes"
