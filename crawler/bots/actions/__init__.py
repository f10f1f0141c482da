"""Every write, one function a verb.

What bots do          pull_jobs, submit_results, extend_locks, release_jobs
What time does        schedule_due, assign_policies, expire_overdue; publish_changes, finish_delivery;
                      forget_old_jobs, forget_old_deliveries
What people do        create_bot, change_bot, rotate_token, set_enabled; create_policy, create_policy_for,
                      change_policy, delete_policy; add_product_urls, remove_product_url, make_due; reset_job,
                      force_fail_job, extend_lock, change_job; create_webhook, change_webhook, rotate_secret,
                      delete_webhook, claim_ping, redeliver
"""

from crawler.bots.actions.assigning import assign_policies
from crawler.bots.actions.bots import change_bot, create_bot, rotate_token, set_enabled
from crawler.bots.actions.changes import publish_changes
from crawler.bots.actions.deliveries import claim_ping, finish_delivery, redeliver
from crawler.bots.actions.due import make_due
from crawler.bots.actions.forgetting import forget_old_deliveries, forget_old_jobs
from crawler.bots.actions.jobs import change_job, extend_lock, force_fail_job, reset_job
from crawler.bots.actions.locks import expire_overdue, extend_locks, release_jobs
from crawler.bots.actions.policies import change_policy, create_policy, create_policy_for, delete_policy
from crawler.bots.actions.products import AddedURLs, add_product_urls, remove_product_url
from crawler.bots.actions.pulling import pull_jobs
from crawler.bots.actions.scheduling import schedule_due
from crawler.bots.actions.submitting import submit_results
from crawler.bots.actions.webhooks import change_webhook, create_webhook, delete_webhook, rotate_secret

__all__ = [
    "AddedURLs",
    "add_product_urls",
    "assign_policies",
    "change_bot",
    "change_job",
    "change_policy",
    "change_webhook",
    "claim_ping",
    "create_bot",
    "create_policy",
    "create_policy_for",
    "create_webhook",
    "delete_policy",
    "delete_webhook",
    "expire_overdue",
    "extend_lock",
    "extend_locks",
    "finish_delivery",
    "force_fail_job",
    "forget_old_deliveries",
    "forget_old_jobs",
    "make_due",
    "publish_changes",
    "pull_jobs",
    "redeliver",
    "release_jobs",
    "remove_product_url",
    "reset_job",
    "rotate_secret",
    "rotate_token",
    "schedule_due",
    "set_enabled",
    "submit_results",
]
