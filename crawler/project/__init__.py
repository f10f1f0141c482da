"""Puts the apps together: Django settings, addresses, server, supervisor."""
