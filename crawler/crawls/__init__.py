"""Django app: crawls and what they bring home: frontier, documents, links, images, log."""
