"""A server of PyPI's `mcp` with every part of the protocol of 2026-07-28: results that ask for input, subscriptions, caching."""

from typing import Annotated

from mcp.server.mcpserver import Context, MCPServer, Resolve
from mcp.server.mcpserver.resolve import Elicit
from pydantic import BaseModel

server = MCPServer("stateless", instructions="Ask before you book.")


class Who(BaseModel):
    """What a user is asked."""

    name: str


class Sum(BaseModel):
    """What a tool computes."""

    sum: float


def who() -> Elicit[Who]:
    """Ask the user."""
    return Elicit("Who travels?", Who)


def once_more(first: Annotated[Who, Resolve(who)]) -> Elicit[Who]:
    """Ask the user again, with what they answered."""
    return Elicit(f"Who travels with {first.name}?", Who)


@server.tool()
def add(a: float, b: float) -> Sum:
    """Add two numbers."""
    return Sum(sum=a + b)


@server.tool()
def book(place: str, first: Annotated[Who, Resolve(who)], second: Annotated[Who, Resolve(once_more)]) -> str:
    """Book a journey for two: the user is asked twice."""
    return f"{place} for {first.name} and {second.name}"


@server.tool()
async def count(to: int, context: Context) -> str:
    """Count, and say how far it is."""
    for number in range(to):
        await context.report_progress(number + 1, to, f"{number + 1} of {to}")
    return str(to)


@server.tool()
async def grow(context: Context) -> str:
    """Get one more tool."""
    server.add_tool(lambda: "new", name="grown", description="A tool that came later.")
    await context.notify_tools_changed()
    return "grown"


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("no such journey")


@server.resource("stateless://places")
def places() -> str:
    """Where one can go."""
    return "Oslo\nBergen"


@server.prompt()
def plan(place: str) -> str:
    """Plan a journey."""
    return f"Plan a journey to {place}."


if __name__ == "__main__":
    server.run("stdio")
