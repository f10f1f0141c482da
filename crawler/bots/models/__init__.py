from crawler.bots.models.bot import BotConfig
from crawler.bots.models.change import ChangeKind, ProductChange
from crawler.bots.models.job import CrawlJob, InvalidTransition
from crawler.bots.models.policy import CrawlPolicy
from crawler.bots.models.product import ProductURL
from crawler.bots.models.result import CrawlResult
from crawler.bots.models.webhook import DeliveryStatus, Webhook, WebhookDelivery

__all__ = [
    "BotConfig",
    "ChangeKind",
    "CrawlJob",
    "CrawlPolicy",
    "CrawlResult",
    "DeliveryStatus",
    "InvalidTransition",
    "ProductChange",
    "ProductURL",
    "Webhook",
    "WebhookDelivery",
]
