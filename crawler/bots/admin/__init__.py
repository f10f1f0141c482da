"""Admin pages: bots, policies, jobs, results, products. Every write is an action, with its line in the audit log."""

from crawler.bots.admin import bots, jobs, policies, products, results

__all__ = ["bots", "jobs", "policies", "products", "results"]
