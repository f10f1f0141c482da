from crawler.bots.models.bot import BotConfig
from crawler.bots.models.job import CrawlJob, InvalidTransition
from crawler.bots.models.policy import CrawlPolicy
from crawler.bots.models.product import ProductURL
from crawler.bots.models.result import CrawlResult

__all__ = ["BotConfig", "CrawlJob", "CrawlPolicy", "CrawlResult", "InvalidTransition", "ProductURL"]
