"""What the web is: URLs, hosts, robots, sitemaps, links and charsets as pure functions, without I/O and without Django."""
