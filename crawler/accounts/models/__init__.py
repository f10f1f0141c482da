from crawler.accounts.models.audit import AuditEntry
from crawler.accounts.models.requests import IdempotentRequest, RateWindow
from crawler.accounts.models.token import ApiToken
from crawler.accounts.models.user import User

__all__ = ["ApiToken", "AuditEntry", "IdempotentRequest", "RateWindow", "User"]
