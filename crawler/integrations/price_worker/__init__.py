"""The bundled bot, `crawler bot run`: fetches product pages politely, reads their prices and submits them.

manners.py    how we behave: name, delay, limits
hosts.py      what is known of a host: its clock, what waits for it
robots.py     the robots.txt of every origin, asked for once
visits.py     one page: robots.txt, redirects, what came of it
pages.py      the thread that fetches, many hosts at once, one request at a time for each
handling.py   from a job to its answer
running.py    all of it behind the SDK's loop
"""

from crawler.integrations.price_worker.manners import Manners
from crawler.integrations.price_worker.pages import Pages
from crawler.integrations.price_worker.running import Outcome, run

__all__ = ["Manners", "Outcome", "Pages", "run"]
