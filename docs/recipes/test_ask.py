"""Runs the recipes of `ask` with the vendors' own clients, against a server that imitates the vendors' APIs."""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import anthropic_ask
import instructor_beside
import langchain_parser
import openai_ask
import pydantic_ai_validator
import yaml
from anthropic import AsyncAnthropic
from langchain_core.exceptions import OutputParserException
from langchain_openai import ChatOpenAI
from local_models import LocalModels
from openai import AsyncOpenAI, InternalServerError, OpenAI
from order import Order
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from seamgate import Refused

HERE = Path(__file__).parent
GOOD = '{"sku":"A-7","count":2}'
FENCED = f"Sure:\n```json\n{GOOD}\n```"
# The schema rejects the first, and the validator of the model the second.
SCRIPT = ['{"sku":"A-7","count":0}', '{"sku":"C-1","count":2}', FENCED]
ORDER = Order(sku="A-7", count=2)


def openai(models):
    return OpenAI(base_url=f"{models.url}/v1", api_key="test-key", max_retries=0)


def told(messages):
    """Returns the last message of the user."""
    content = messages[-1]["content"]
    return content if isinstance(content, str) else content[0]["text"]


class Asks(unittest.TestCase):
    def check(self, answer, models):
        """The third answer is accepted, after both feedbacks."""
        assert answer.success
        assert answer.data == ORDER
        asked, first, second = models.requests
        assert told(asked).startswith("Order for Ms Lee.\n\nAnswer with one JSON document"), told(asked)
        assert '"count": integer, at least 1. How many pieces.' in told(asked)
        assert "- at $.count: must be >= 1. Received" in told(first), told(first)
        assert "- at $.sku: Value error, must be in stock. Received" in told(second), told(second)
        assert [message["role"] for message in second] == ["user", "assistant"] * 2 + ["user"]

    def test_openai(self):
        for recipe in (openai_ask.chat_completions, openai_ask.responses):
            with LocalModels(SCRIPT) as models:
                self.check(recipe(openai(models), "Order for Ms Lee."), models)
            with LocalModels([('{"sku":"A-7"', "length", None)]) as models:
                answer = recipe(openai(models), "Order for Ms Lee.")
                assert (answer.success, answer.stop) == (False, "not_retryable")
            with LocalModels([(None, "stop", "I cannot help with that.")]) as models:
                answer = recipe(openai(models), "Order for Ms Lee.")
                assert isinstance(answer, Refused)
                assert answer.refusal == "I cannot help with that."
            # Nothing is left in the script: the server fails, and its error passes through.
            with LocalModels([]) as models, self.assertRaises(InternalServerError):
                recipe(openai(models), "Order for Ms Lee.")

    def test_anthropic(self):
        async def order(models):
            async with AsyncAnthropic(base_url=models.url, api_key="test-key", max_retries=0) as client:
                return await anthropic_ask.order(client, "Order for Ms Lee.")

        with LocalModels(SCRIPT) as models:
            answer = asyncio.run(order(models))
            self.check(answer, models)
            assert answer.attempts[-1].reply.usage.output_tokens == 1
        with LocalModels([("", "stop", "I cannot.")]) as models:
            assert isinstance(asyncio.run(order(models)), Refused)

    def test_pydantic_ai(self):
        def model(models):
            client = AsyncOpenAI(base_url=f"{models.url}/v1", api_key="test-key", max_retries=0)
            return OpenAIChatModel("gpt-5-mini", provider=OpenAIProvider(openai_client=client))

        with LocalModels(SCRIPT) as models:
            assert pydantic_ai_validator.order(model(models), "Order for Ms Lee.") == ORDER
            asked, first, second = models.requests
            assert "Answer with one JSON document" in str(asked)
            assert "- at $.count: must be >= 1." in told(first), first
            assert "- at $.sku: Value error, must be in stock." in told(second), second

    def test_langchain(self):
        def model(models):
            return ChatOpenAI(model="gpt-5-mini", base_url=f"{models.url}/v1", api_key="test-key", max_retries=0)

        with LocalModels([FENCED]) as models:
            assert langchain_parser.chain(model(models), "two of A-7") == ORDER
            assert "Answer with one JSON document" in told(models.requests[0])
        with LocalModels(SCRIPT) as models, self.assertRaises(OutputParserException) as raised:
            langchain_parser.chain(model(models), "two of A-7")
        assert "must be >= 1" in raised.exception.observation
        with LocalModels(SCRIPT) as models:
            answer = langchain_parser.asked_again(model(models), "two of A-7")
            assert answer.data == ORDER
            assert len(models.requests) == 3
        with LocalModels([(None, "stop", "I cannot.")]) as models:
            assert isinstance(langchain_parser.asked_again(model(models), "two of A-7"), Refused)

    def test_instructor(self):
        """Checks the table in README.md row by row: the result of each, and the number of attempts."""
        scripts = {
            "a count of 0, then a valid answer": SCRIPT[::2],
            "something not in stock, then a valid answer": SCRIPT[1:],
            "JSON within prose, then a valid answer": [f"I think:\n{GOOD}\nRight?", GOOD],
            "`count` twice, then a valid answer": ['{"sku":"A-7","count":1,"count":9}', GOOD],
            "cut off at the length limit": [('{"sku":"A-7"', "length", None)] * 3,
            "a refusal": [(None, "stop", "I cannot help with that.")] * 3,
            "the same mistake each time": [SCRIPT[1]] * 3,
        }
        rows = []
        for what, script in scripts.items():
            cells = []
            for way in (instructor_beside.with_instructor, instructor_beside.with_seamgate):
                with LocalModels(script) as models:
                    done = way(openai(models))
                gives = f"{done['data'].count} of {done['data'].sku}" if done["data"] else done["says"]
                cells.append(f"{gives}; asked {len(models.requests)}")
            rows.append(f"| {what} | {' | '.join(cells)} |")
        table = "\n".join(rows)
        assert table in (HERE / "README.md").read_text(), table

    def test_github_actions(self):
        workflow = HERE / "github_actions.yml"
        check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(workflow)]
        subprocess.run(check, check=True)
        steps = yaml.safe_load(workflow.read_text())["jobs"]["order"]["steps"]
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder)
            (made / "bin").mkdir()
            # In the place of the package's own: what this build made.
            (made / "bin/seamgate").symlink_to(os.environ["SEAMGATE"])
            shutil.copy(HERE / "order.contract.json", made)
            (made / "prompt.txt").write_text("Order for Ms Lee.")
            (made / "agent.sh").write_text(
                'if [ "$SEAMGATE_ATTEMPT" = 1 ]; then echo "no idea"; else ' + f"echo '{GOOD}'; fi\n"
            )
            path = f"{made}/bin:{os.environ['PATH']}"
            environment = {
                **os.environ,
                "PATH": path,
                "RUNNER_TEMP": folder,
                "GITHUB_STEP_SUMMARY": f"{folder}/summary",
            }
            ran = []
            for step in steps:
                if "run" in step and not step["run"].startswith("pip install"):
                    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
                    subprocess.run(command, cwd=folder, env=environment, check=True)
                    ran.append(step["name"])
            assert len(ran) == 3
            assert (made / "summary").read_text() == "order 2 of A-7\n"
            assert (made / "run.ndjson").read_text().count("\n") > 3


if __name__ == "__main__":
    unittest.main()
