"""PydanticAI: the gate validates the agent's output. What it says goes back to the model as a retry of PydanticAI."""

from order import Order
from pydantic_ai import Agent, ModelRetry, TextOutput
from pydantic_ai.models import Model
from seamgate import ResultParser

parser = ResultParser()


def judged(output: str) -> Order:
    result = parser.parse_with_schema(Order, output)
    if not result:
        raise ModelRetry(result.feedback)
    return result.data


def order(model: Model, prompt: str) -> Order:
    agent = Agent(model, output_type=TextOutput(judged), retries=2, instructions=parser.describe_schema(Order))
    return agent.run_sync(prompt).output
