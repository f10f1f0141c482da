"""The platform's settings: one table, read once, every value with its origin.

InvalidSetting          a value that stops the start, worded for the person who set it
SETTINGS                the table: name, parser, default, help
Config                  the typed result
load()                  settings.env and the environment -> Config
ensure_secret_key()     the generated SECRET_KEY, kept in CRAWLER_HOME
"""

from crawler.foundation.config.loader import Config, load
from crawler.foundation.config.parsers import Database, InvalidSetting
from crawler.foundation.config.secret import ensure_secret_key
from crawler.foundation.config.table import SETTINGS, Setting

__all__ = ["SETTINGS", "Config", "Database", "InvalidSetting", "Setting", "ensure_secret_key", "load"]
