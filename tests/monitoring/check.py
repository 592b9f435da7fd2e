"""Checks deploy/monitoring against a recorded scrape and a recorded file of verdicts, without a server.

- promtool checks the configuration, the rules and their unit tests, and the part of the collector's file that is Prometheus' own.
- A strict parser of OpenMetrics reads the scrape.
- Metrics and labels in queries exist in the scrape, and values of labels in the schemas of the project.
- The models of Grafana's own SDK have each member of the dashboard.

Usage: check.py FOLDER
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import stack
import yaml
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as prometheus_families

SCHEMAS = stack.HERE.parent.parent / "schemas"

# Prometheus adds these to each scrape.
ADDED = {"job", "instance"}
# Components of the collector's core distribution, `otelcol`, that the configuration may use.
CORE = {
    "receivers": {"otlp", "prometheus"},
    "processors": {"batch", "memory_limiter"},
    "exporters": {"debug", "otlp", "otlphttp"},
}
WORDS = {"by", "without", "and", "or", "unless", "on", "ignoring", "offset", "bool"}


def enum(schema, *path):
    found = json.loads((SCHEMAS / f"{schema}.schema.json").read_text())
    for member in path:
        found = found[member]
    return set(found["enum"])


def values():
    """Returns the values that labels can have, by their names."""
    definitions = ("record", "$defs")
    return {
        "permit": enum(*definitions, "decision", "properties", "permit"),
        "status": enum(*definitions, "observation", "properties", "status")
        | enum(*definitions, "settled", "properties", "code"),
        "decision": {"approved", "rejected", "expired"},
        "job": {"seamgate"},
        "disposition": enum("report", "$defs", "disposition"),
    }


def used(expression):
    """Returns the metrics of an expression, each with its matchers, and all names of labels by which it groups."""
    text = re.sub(r"\[[^\]]*\]", "", expression)
    grouped = set()
    for names in re.findall(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)", text):
        grouped |= {name.strip() for name in names.split(",") if name.strip()}
    text = re.sub(r"\b(?:by|without|on|ignoring)\s*\([^)]*\)", "", text)
    metrics = []
    for name, _, matchers in re.findall(r"\b([a-zA-Z_:][\w:]*)\b(?!\s*\()(\{([^}]*)\})?", re.sub(r'"[^"]*"', quoted, text)):
        if name not in WORDS:
            metrics.append((name, re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*<([0-9a-f]*)>", matchers)))
    return metrics, grouped


def quoted(found):
    """Replaces a text by one that no other part of an expression looks like."""
    return f"<{found[0][1:-1].encode().hex()}>"


def wrong_query(where, expression, shape, allowed):
    """Yields what an expression names and no scrape has."""
    labels = {name: set(names) | ADDED for name, names in shape} | {"up": ADDED}
    metrics, grouped = used(expression)
    if not metrics:
        yield f"{where}: no metric in {expression}"
    for name, matchers in metrics:
        if name not in labels:
            yield f"{where}: no scrape has the metric {name}"
            continue
        for label, value in matchers:
            if label not in labels[name]:
                yield f"{where}: {name} has no label {label}"
            value = bytes.fromhex(value).decode()
            for word in value.split("|") if label in allowed else []:
                if word not in allowed[label]:
                    yield f"{where}: the label {label} is never {word}"
        for label in grouped - labels[name]:
            yield f"{where}: {name} has no label {label}"


def wrong_texts(where, expression, names, shape):
    """Yields labels that a legend or an annotation names and the result of its expression lacks."""
    metrics, grouped = used(expression)
    have = grouped or {label for name, labels in shape if name == metrics[0][0] for label in labels} | ADDED
    for name in names:
        if name not in have:
            yield f"{where}: the result has no label {name}"


def lost(one, other, path):
    """Yields the members that the second document lacks."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name, value in one.items():
            if name not in other:
                # A null is the same as a missing member.
                if value is not None:
                    yield f"{path}/{name}"
            else:
                yield from lost(value, other[name], f"{path}/{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (first, second) in enumerate(zip(one, other)):
            yield from lost(first, second, f"{path}/{index}")
    elif one != other:
        yield path


def wrong_dashboard(board, shape, allowed):
    plugins.register_default_plugins()
    known = json.loads(JSONEncoder().encode(Dashboard.from_json(board)))
    for path in lost(board, known, ""):
        yield f"dashboard.json{path}: Grafana's SDK knows no such member"
    ids = [panel["id"] for panel in board["panels"]]
    if len(ids) != len(set(ids)):
        yield "dashboard.json: two panels have one id"
    for panel in board["panels"]:
        where = f"dashboard.json, {panel['title']}"
        place = panel["gridPos"]
        if place["x"] + place["w"] > 24:
            yield f"{where}: beyond the right edge"
        for other in board["panels"]:
            theirs = other["gridPos"]
            if panel["id"] < other["id"] and all(
                place[at] < theirs[at] + theirs[size] and theirs[at] < place[at] + place[size] for at, size in ("xw", "yh")
            ):
                yield f"{where}: overlaps {other['title']}"
        for target in panel.get("targets", []):
            yield from wrong_query(where, target["expr"], shape, allowed)
            names = re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", ""))
            yield from wrong_texts(where, target["expr"], names, shape)
            if target["datasource"]["uid"] != "${datasource}":
                yield f"{where}: the data source is not the variable"
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]).groups()
            if not any(name == metric and label in labels for name, labels in shape):
                yield f"dashboard.json, {variable['name']}: no scrape has {variable['query']}"
    # Every metric is on the dashboard.
    shown = {name for _, expression in stack.queries(board) for name, _ in used(expression)[0]}
    family = lambda name: re.sub(r"_(total|sum|count|bucket)$", "", name)
    for name in sorted({family(name) for name, _ in shape} - {family(name) for name in shown}):
        yield f"dashboard.json: no panel shows {name}"


def wrong_alerts(shape, allowed):
    tests = yaml.safe_load((stack.FILES / "alerts.test.yml").read_text())
    cases = [case for test in tests["tests"] for case in test["alert_rule_test"]]
    for rule in yaml.safe_load((stack.FILES / "alerts.yml").read_text())["groups"][0]["rules"]:
        where = f"alerts.yml, {rule['alert']}"
        yield from wrong_query(where, rule["expr"], shape, allowed)
        names = re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"]))
        yield from wrong_texts(where, rule["expr"], names, shape)
        fires = {bool(case["exp_alerts"]) for case in cases if case["alertname"] == rule["alert"]}
        if True not in fires:
            yield f"{where}: no unit test expects it to fire"
        if not re.search(r"seamgate \w+|page", rule["annotations"]["description"]):
            yield f"{where}: the description names no next step"


def wrong_collector(folder):
    collector = yaml.safe_load((stack.FILES / "collector.yml").read_text())
    for kind, known in CORE.items():
        for name in collector[kind]:
            if name not in known:
                yield f"collector.yml: {name} is not in the core distribution"
    for name, pipeline in collector["service"]["pipelines"].items():
        for kind in CORE:
            for component in pipeline[kind]:
                if component not in collector[kind]:
                    yield f"collector.yml, {name}: no {component} in {kind}"
    scraped = collector["receivers"]["prometheus"]["config"]
    # The collector reads `$` as the start of a variable.
    if "$" in json.dumps(scraped):
        yield "collector.yml: a $ in the configuration of Prometheus must be doubled"
    scraped["scrape_configs"][0]["authorization"]["credentials_file"] = stack.TOKEN_FILE
    (folder / "collector-prometheus.yml").write_text(yaml.safe_dump(scraped))


def wrong_scrape(families):
    """Yields names that go against OpenMetrics or Prometheus' conventions. The parsers themselves raise errors."""
    for family in families:
        if family.unit and not family.name.endswith(f"_{family.unit}"):
            yield f"{family.name}: does not end with its unit"
        if any(family.name.count(unit) > 1 for unit in ("_seconds", "_total", "_bytes")):
            yield f"{family.name}: a unit or `_total` stands twice in it"
        if not family.documentation.endswith("."):
            yield f"{family.name}: no description"


def promtool(folder, *arguments):
    output = subprocess.run(["promtool", *arguments], cwd=folder, capture_output=True, text=True)
    if output.returncode != 0:
        yield f"promtool {' '.join(arguments)}: {output.stdout}{output.stderr}".strip()


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    stack.configure(folder, "127.0.0.1:7778", "token")
    shutil.copy(stack.FILES / "alerts.test.yml", folder)
    scrape = stack.SCRAPE.read_text()
    textfile = stack.TEXTFILE.read_text()
    shape, allowed = stack.shape(scrape) | stack.shape(textfile), values()
    board = stack.dashboard()
    wrong = [
        *wrong_scrape(text_string_to_metric_families(scrape)),
        *wrong_scrape(prometheus_families(textfile)),
        *wrong_dashboard(board, shape, allowed),
        *wrong_alerts(shape, allowed),
        *wrong_collector(folder),
        *promtool(folder, "check", "config", "prometheus.yml"),
        *promtool(folder, "check", "config", "collector-prometheus.yml"),
        *promtool(folder, "check", "rules", "--lint=all", "--lint-fatal", "alerts.yml"),
        *promtool(folder, "test", "rules", "alerts.test.yml"),
    ]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(shape)} names of samples, {len(list(stack.queries(board)))} queries, {len(board['panels'])} panels: valid")


if __name__ == "__main__":
    main()
