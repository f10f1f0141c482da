"""Admin pages: bots, policies, jobs, results, products, webhooks. Every write is an action with its audit line."""

from crawler.bots.admin import bots, jobs, policies, products, results, webhooks

__all__ = ["bots", "jobs", "policies", "products", "results", "webhooks"]
