"""Draws docs/reference/bot-job-states.md: python -m crawler.bots.diagram > docs/reference/bot-job-states.md"""

from __future__ import annotations

from crawler.bots.states import TRANSITIONS, JobState

MEANINGS = {
    JobState.PENDING: "waits to be pulled",
    JobState.LOCKED: "a bot has it until its lock ends",
    JobState.DONE: "its result is stored; final",
    JobState.FAILED: "every attempt failed, or somebody gave it up; final unless a person resets it",
    JobState.EXPIRED: "its lock ended without an answer; waits for a person",
}

PAGE = """# States of a bot job

Drawn from the table in `crawler/bots/states.py` by `python -m crawler.bots.diagram`; a test keeps them equal.

```mermaid
{diagram}
```

| state | meaning |
| --- | --- |
{meanings}

| from | to | when |
| --- | --- | --- |
{transitions}
"""


def diagram() -> str:
    """The table as a Mermaid state diagram."""
    arrows = [f"    {step.old} --> {step.new}: {step.when}" for step in TRANSITIONS]
    return "\n".join(["stateDiagram-v2", "    [*] --> pending: its URL is due", *arrows, "    done --> [*]"])


def page() -> str:
    return PAGE.format(
        diagram=diagram(),
        meanings="\n".join(f"| `{state}` | {MEANINGS[state]} |" for state in JobState),
        transitions="\n".join(f"| `{step.old}` | `{step.new}` | {step.when} |" for step in TRANSITIONS),
    )


if __name__ == "__main__":
    print(page(), end="")
