"""Tests the recipes in Python: which calls are denied, asked about and executed, and what the model reads."""

import importlib
import unicodedata
import unittest


class Recipes(unittest.TestCase):
    def check(self, name):
        recipe = importlib.import_module(name)
        done = recipe.run("anna")
        # Nothing that needs a person ran before one decided, and after that it ran once.
        assert done["before"] == ["search_logs"]
        assert done["executed"] == ["search_logs", "restart_service"]
        (view,) = done["views"]
        assert "tool: restart_service\neffect: effectful\nwhy: " in view
        assert "\nfor: joe\n" in view
        assert 'arguments: {"service":"cart"}' in view
        logs, *denied, restarted = done["told"]
        assert "11 hidden characters, escaped" in logs
        assert "like an instruction" in logs
        assert "Labels: untrusted" in logs
        hidden = [letter for text in done["told"] for letter in text if unicodedata.category(letter) == "Cf"]
        assert hidden == []
        if "shown" in done:
            # The framework offers the model only what the gate shows, and refuses other calls itself.
            assert all("delete_logs" not in tools for tools in done["shown"])
        else:
            (message,) = denied
            assert message.startswith('Call denied: "delete_logs" is not available in the mode "diagnose".'), message
        assert '{"restarted":"cart"}' in restarted
        # A person who may not approve, or nobody: the framework goes on, and the gate does not.
        done = recipe.run("mallory")
        assert done["executed"] == ["search_logs"]
        assert done["told"][-1] == '"restart_service" needs approval'

    def test_langgraph(self):
        self.check("langgraph_loop")

    def test_openai_agents(self):
        self.check("openai_agents_loop")

    def test_pydantic_ai(self):
        self.check("pydantic_ai_loop")


if __name__ == "__main__":
    unittest.main()
