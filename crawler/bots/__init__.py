"""Django app: bots: policies, product URLs, jobs under locks, results; the API /api/crawl."""
