"""`/api/v1/processes`: what runs, and what the scheduler did."""

from django.http import HttpRequest
from ninja import Router

from crawler.accounts.access import at_least
from crawler.accounts.roles import Role
from crawler.processes import registry
from crawler.processes.models import PeriodicTask
from crawler.processes.schemas import Processes

router = Router(tags=["monitoring"])


@router.get(
    "/processes", response=Processes, auth=at_least(Role.VIEWER), summary="Running processes and periodic tasks"
)
def list_processes(request: HttpRequest) -> object:
    return {"processes": registry.listed(), "tasks": PeriodicTask.objects.all()}
