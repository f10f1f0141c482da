"""The bots' SDK: write one function, the rest is here. Standard library only.

    from crawler.integrations.client import Bot, Job, Result

    def handle(job: Job) -> Result:
        ...
        return Result(price="9.99", currency="EUR")

    Bot().run(handle, workers=8)

It pulls ahead, keeps locks alive, submits in batches, repeats what got no answer, and gives back what it cannot finish.

What can be raised:

    BotError
    ├── ConfigurationError (ValueError)   no token, an address that is none
    ├── InvalidResult (ValueError)        a Result the server would refuse
    ├── TemporaryError                    sending the same again is right; the loops do
    │   ├── Unreachable                   no answer
    │   ├── ServerError                   5xx
    │   └── PutOff                        429, 409
    └── Refused                           .status, .code, .fields
        ├── AuthenticationError           wrong token, bot switched off
        ├── InvalidRequest                a field is wrong
        ├── TooLarge                      more than the server takes
        ├── JobNotFound
        ├── JobNotLocked                  answered before, or given back
        ├── NotAssigned                   somebody else's now
        └── LockExpired                   too late
"""

from crawler.integrations.client.bot import Bot, Locks, Receipt
from crawler.integrations.client.errors import (
    AuthenticationError,
    BotError,
    ConfigurationError,
    InvalidRequest,
    InvalidResult,
    JobNotFound,
    JobNotLocked,
    LockExpired,
    NotAssigned,
    PutOff,
    Refused,
    ServerError,
    TemporaryError,
    TooLarge,
    Unreachable,
)
from crawler.integrations.client.holding import Event, Summary
from crawler.integrations.client.jobs import Failure, GiveBack, Job, Result

__all__ = [
    "AuthenticationError",
    "Bot",
    "BotError",
    "ConfigurationError",
    "Event",
    "Failure",
    "GiveBack",
    "InvalidRequest",
    "InvalidResult",
    "Job",
    "JobNotFound",
    "JobNotLocked",
    "LockExpired",
    "Locks",
    "NotAssigned",
    "PutOff",
    "Receipt",
    "Refused",
    "Result",
    "ServerError",
    "Summary",
    "TemporaryError",
    "TooLarge",
    "Unreachable",
]
