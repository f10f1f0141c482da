"""Django app: the domain as a durable entity: lifecycle, claims, politeness clock, robots record."""
