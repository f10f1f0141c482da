"""What the web is: URLs, hosts, robots, sitemaps, links, charsets. Pure functions: no I/O, no Django."""
