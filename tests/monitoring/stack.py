"""Reads the files of deploy/monitoring."""

import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
FILES = HERE.parent.parent / "deploy" / "monitoring"

# A scrape of `load.py`, with all metrics and labels.
SCRAPE = HERE / "scrape.txt"

# The file that `seamgate check --metrics` writes in `load.py`, with all metrics and labels.
TEXTFILE = HERE / "verdicts.prom"

# The file with the token of `seamgate serve`, beside the configuration of Prometheus.
TOKEN_FILE = "seamgate-token"


def dashboard():
    return json.loads((FILES / "dashboard.json").read_text())


def queries(board):
    """Yields each query, with the title of its panel."""
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]


def instant_queries(board):
    """Returns the queries for a single time, by the titles of their panels."""
    found = {}
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            if target.get("instant"):
                if panel["title"] in found:
                    raise ValueError(f"two queries for a single time in panels with the title {panel['title']}")
                found[panel["title"]] = target["expr"]
    return found


def filled(expression):
    """Replaces the dashboard's variables by what Grafana would send."""
    for name, value in (("$__rate_interval", "1m"), ("$agent", ".*")):
        expression = expression.replace(name, value)
    if "$" in expression:
        raise ValueError(f"a variable without a value: {expression}")
    return expression


def configure(folder, target, token, node="127.0.0.1:9100"):
    """Writes the files of Prometheus into a folder, with other targets and a short interval."""
    text = (FILES / "prometheus.yml").read_text()
    for old, new in (("127.0.0.1:7778", target), ("127.0.0.1:9100", node), ("15s", "1s")):
        if old not in text:
            raise ValueError(f"prometheus.yml has no {old}")
        text = text.replace(old, new)
    (folder / "prometheus.yml").write_text(text)
    (folder / "alerts.yml").write_text((FILES / "alerts.yml").read_text())
    (folder / TOKEN_FILE).write_text(token)


SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? \S+")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="(?:[^"\\]|\\.)*",?')


def shape(scrape):
    """Returns the names of a scrape's samples, each with the names of its labels."""
    found = set()
    for line in scrape.splitlines():
        if not line.startswith("#"):
            name, labels = SAMPLE.fullmatch(line).groups()
            found.add((name, tuple(sorted(LABEL.findall(labels or "")))))
    return found
