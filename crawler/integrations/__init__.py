"""Crawlspace in other people's programs: the bots' client."""
