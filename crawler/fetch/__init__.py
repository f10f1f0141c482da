"""Getting bytes: HTTP client, guard against private addresses, name resolution, decoding, politeness. No Django."""
