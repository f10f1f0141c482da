"""Who may do what: users and roles, API tokens, audit log, idempotency, rate limits."""
