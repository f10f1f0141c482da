from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "crawler.accounts"
    verbose_name = "Accounts"
