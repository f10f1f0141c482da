"""Every write, one function a verb.

What bots do          pull_jobs, submit_results, extend_locks, release_jobs
What time does        schedule_due, assign_policies, expire_overdue
What people do        create_bot, change_bot, rotate_token, set_enabled; create_policy, create_policy_for,
                      change_policy, delete_policy; add_product_urls, remove_product_url, make_due; reset_job,
                      force_fail_job, extend_lock, change_job
"""

from crawler.bots.actions.assigning import assign_policies
from crawler.bots.actions.bots import change_bot, create_bot, rotate_token, set_enabled
from crawler.bots.actions.due import make_due
from crawler.bots.actions.jobs import change_job, extend_lock, force_fail_job, reset_job
from crawler.bots.actions.locks import expire_overdue, extend_locks, release_jobs
from crawler.bots.actions.policies import change_policy, create_policy, create_policy_for, delete_policy
from crawler.bots.actions.products import AddedURLs, add_product_urls, remove_product_url
from crawler.bots.actions.pulling import pull_jobs
from crawler.bots.actions.scheduling import schedule_due
from crawler.bots.actions.submitting import submit_results

__all__ = [
    "AddedURLs",
    "add_product_urls",
    "assign_policies",
    "change_bot",
    "change_job",
    "change_policy",
    "create_bot",
    "create_policy",
    "create_policy_for",
    "delete_policy",
    "expire_overdue",
    "extend_lock",
    "extend_locks",
    "force_fail_job",
    "make_due",
    "pull_jobs",
    "release_jobs",
    "remove_product_url",
    "reset_job",
    "rotate_token",
    "schedule_due",
    "set_enabled",
    "submit_results",
]
