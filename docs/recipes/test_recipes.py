"""What the recipes in Python do: what is denied, asked and executed, and what the model reads."""

import importlib
import unittest
import unicodedata


class Recipes(unittest.TestCase):
    def check(self, name):
        recipe = importlib.import_module(name)
        done = recipe.run("anna")
        # Nothing that needs a person ran before one decided, and after that it ran once.
        self.assertEqual(done["before"], ["search_logs"])
        self.assertEqual(done["executed"], ["search_logs", "restart_service"])
        (view,) = done["views"]
        self.assertIn("tool: restart_service\neffect: effectful\nfor: joe\n", view)
        self.assertIn('arguments: {"service":"cart"}', view)
        logs, denied, restarted = done["told"]
        self.assertIn("11 hidden characters, escaped", logs)
        self.assertIn("like an instruction", logs)
        self.assertIn("Labels: untrusted", logs)
        hidden = [letter for text in done["told"] for letter in text if unicodedata.category(letter) == "Cf"]
        self.assertEqual(hidden, [])
        self.assertTrue(
            denied.startswith('Call denied: "delete_logs" is not available in the mode "diagnose".'), denied
        )
        self.assertIn('{"restarted":"cart"}', restarted)
        # A person who may not approve, or nobody: the framework goes on, and the gate does not.
        done = recipe.run("mallory")
        self.assertEqual(done["executed"], ["search_logs"])
        self.assertEqual(done["told"][-1], '"restart_service" needs approval')

    def test_langgraph(self):
        self.check("langgraph_loop")

    def test_openai_agents(self):
        self.check("openai_agents_loop")


if __name__ == "__main__":
    unittest.main()
