"""Throwaway PostgreSQL and Redis for the tests: on free ports, in a temporary folder, gone afterwards."""
