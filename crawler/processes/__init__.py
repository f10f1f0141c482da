"""The platform's own processes: which run where, and the tasks the scheduler gives them."""
