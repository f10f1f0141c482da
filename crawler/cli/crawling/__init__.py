"""`crawler crawl`, piece by piece.

order.py      what is asked for: seeds and rules, checked; the name under which the crawl is found again
place.py      where it rests: folder, database, archive, and the lock that keeps a second command out
opening.py    Django up, database migrated, the crawl found or made
figures.py    what workers report while they work
crew.py       one worker in this process, or several in processes of their own
child.py      such a process
stopping.py   Ctrl-C once: stop and save; twice: leave at once
watching.py   the thread that shows progress
screens.py    how progress looks: on a terminal, in a pipe, not at all
summary.py    what came of it, as text and as JSON, and the exit code
running.py    all of it, in order
"""
