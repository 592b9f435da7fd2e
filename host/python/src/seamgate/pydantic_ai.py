"""A gate around the tools of a PydanticAI agent. Requires the package `pydantic-ai-slim`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import ApprovalRequired, ModelRetry, RunContext, ToolReturn
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset
from pydantic_ai.toolsets.abstract import AgentDepsT
from pydantic_core import to_json, to_jsonable_python

from ._decisions import Call, ToolResult
from ._loop import Loop
from ._words import ApprovalDecision


@dataclass
class GatedToolset(WrapperToolset[AgentDepsT]):
    """Tools that run only if a profile allows it: `GatedToolset(FunctionToolset([...]), gate.loop("ops", ...))`.

    The model sees only the tools that the profile shows. Each call goes through `permit`, and a tool receives exactly
    the arguments that were judged. The model reads only the part of the result that `observe` lets through.

    A call that a person must approve becomes a deferred tool call of PydanticAI: `asked` maps the id of the call to its
    decision. Show the decision's view to a person, and record who approved it with `approve`. PydanticAI's own approval
    of a call is not enough.

    Args:
        wrapped: The tools.
        loop: The loop that decides, one for each run of the agent.
    """

    loop: Loop
    asked: dict[str, ApprovalDecision] = field(default_factory=dict)

    def __init__(self, wrapped: AbstractToolset[AgentDepsT], loop: Loop, asked: dict[str, Any] | None = None) -> None:
        super().__init__(wrapped)
        self.loop = loop
        self.asked = {} if asked is None else asked

    def approve(self, tool_call_id: str, principal: str) -> None:
        """Record that a person approves a call.

        Args:
            tool_call_id: The id of the deferred call.
            principal: The person who approves. The application knows who that is, and never takes it from text of the
                model.

        Raises:
            KeyError: No approval was requested for this call.
        """
        self.loop.approve(self.asked[tool_call_id], principal)

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """Returns the tools that the profile shows now."""
        tools = await super().get_tools(ctx)
        surface = await asyncio.to_thread(self.loop.surface)
        shown = {each.tool for each in surface.tools}
        return {name: tool for name, tool in tools.items() if name in shown}

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> Any:
        """Calls a tool if the profile allows it. Returns what the model may read."""
        key = ctx.tool_call_id or f"{ctx.run_step}-{name}"
        call: Call = {"key": key, "tool": name, "arguments": to_json(tool_args).decode()}
        decision = await asyncio.to_thread(self.loop.permit, call)
        if isinstance(decision, ApprovalDecision):
            self.asked[key] = decision
            if not ctx.tool_call_approved:
                raise ApprovalRequired(metadata={"view": decision.ask.view})
            return decision.message
        if not decision:
            return decision.message
        self.asked.pop(key, None)
        # These are the bytes that were judged and that a person saw.
        judged = tool.args_validator.validate_json(decision.arguments, context=ctx.validation_context)
        observation = await asyncio.to_thread(self.loop.observe, call, await self._result(name, judged, ctx, tool))
        return observation.message

    async def _result(
        self, name: str, judged: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> ToolResult:
        try:
            result = await super().call_tool(name, judged, ctx, tool)
        except ModelRetry as error:
            # The text of the error may be untrusted as well.
            return {"text": error.message, "status": "error"}
        value = result.return_value if isinstance(result, ToolReturn) else result
        return {"text": value} if isinstance(value, str) else {"result": to_jsonable_python(value)}


__all__ = ["GatedToolset"]
