"""The crawl worker: one loop over claimed domains. Knows the contracts of the rooms below and no Django."""
