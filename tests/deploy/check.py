"""Checks rules about the objects of a Kustomize base that schemas cannot express.

Usage: check.py FILE
"""

import sys

import yaml

POD = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
CONTAINER = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}


def selects(selector, labels):
    return all(labels.get(name) == value for name, value in selector.items())


def problems(objects):
    """Yields each mistake, with its place."""
    by_kind = {}
    for found in objects:
        by_kind.setdefault(found["kind"], {})[found["metadata"]["name"]] = found
    pods = [(name, found["spec"]["template"]) for kind in ("Deployment", "Job") for name, found in by_kind[kind].items()]
    for name, template in pods:
        spec, labels = template["spec"], template["metadata"]["labels"]
        for setting, wanted in POD.items():
            if spec.get("securityContext", {}).get(setting) != wanted:
                yield f"{name}: securityContext.{setting} must be {wanted}"
        if spec.get("automountServiceAccountToken") is not False:
            yield f"{name}: automountServiceAccountToken must be false"
        if not any(selects(policy["spec"]["podSelector"]["matchLabels"], labels) for policy in by_kind["NetworkPolicy"].values()):
            yield f"{name}: no NetworkPolicy selects it"
        volumes = {volume["name"]: volume for volume in spec.get("volumes", [])}
        for container in spec["containers"]:
            where = f"{name}/{container['name']}"
            for setting, wanted in CONTAINER.items():
                if container.get("securityContext", {}).get(setting) != wanted:
                    yield f"{where}: securityContext.{setting} must be {wanted}"
            if "@sha256:" not in container["image"]:
                yield f"{where}: the image must have a digest"
            if "memory" not in container.get("resources", {}).get("limits", {}):
                yield f"{where}: resources.limits must have memory"
            yield from files(where, container, volumes, by_kind["ConfigMap"])
        if name in by_kind["Deployment"]:
            containers = spec["containers"]
            for probe in ("readinessProbe", "livenessProbe"):
                if not any(probe in container for container in containers):
                    yield f"{name}: no container has a {probe}"
    for name, service in by_kind["Service"].items():
        chosen = [template for _, template in pods if selects(service["spec"]["selector"], template["metadata"]["labels"])]
        ports = {port["name"] for pod in chosen for one in pod["spec"]["containers"] for port in one.get("ports", [])}
        for port in service["spec"]["ports"]:
            if port["targetPort"] not in ports:
                yield f"{name}: no pod of it has the port {port['targetPort']}"


def files(where, container, volumes, maps):
    """Yields each file that an argument names and that no map has."""
    for mount in container.get("volumeMounts", []):
        volume = volumes.get(mount["name"])
        if volume is None:
            yield f"{where}: there is no volume {mount['name']}"
            continue
        if "configMap" not in volume:
            continue
        data = maps.get(volume["configMap"]["name"], {}).get("data", {})
        for argument in container["args"]:
            _, found, name = argument.partition(mount["mountPath"] + "/")
            if found and name not in data:
                yield f"{where}: {volume['configMap']['name']} has no {name}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        objects = list(yaml.safe_load_all(file))
    wrong = list(problems(objects))
    for problem in wrong:
        print(f"{sys.argv[1]}: {problem}", file=sys.stderr)
    if not wrong:
        print(f"{len(objects)} objects: no problem")
    return bool(wrong)


sys.exit(main())
