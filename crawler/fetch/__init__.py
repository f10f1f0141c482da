"""Getting bytes: guard, name resolution, HTTP client, content decoding, politeness. Async I/O, no Django."""
