from crawler.foundation.periodic import periodic
from crawler.processes import registry


@periodic("processes.forget_lost", every_seconds=600)
def forget_lost() -> str:
    return f"forgot {registry.forget_lost()} processes that were lost a day ago"
