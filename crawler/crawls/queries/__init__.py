"""Reads: `explain` (the story of a URL), `links` (both ways), and what they are made of."""
