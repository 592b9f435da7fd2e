"""Check the types of every snippet in Python, TypeScript and JavaScript of these pages: mypy, pyright, tsc.

    check_snippets.py MYPY_PYTHON NODE_FOLDER TSC PAGE_OR_PROGRAM...

The snippets are written below NODE_FOLDER, where Node finds the packages that they import. mypy reads the programs,
too.
"""

import ast
import builtins
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Names that snippets may use without defining them. They stand for the reader's own code.
GIVEN = {
    "Path": "from pathlib import Path",
    "Gate": "from seamgate import Gate",
    "gate": "from seamgate import Gate\ngate = Gate()",
    "loop": "from seamgate import Gate\nloop = Gate().loop('ops', run='r1', principal='joe')",
    "call": "from seamgate import Call\ncall: Call = {'key': '1', 'tool': 'search_logs', 'arguments': {}}",
    "decision": "from seamgate import Decision, Gate\ndecision: Decision = Gate().permit('ops', '{}', '{}')",
    "output": "output: str = ''",
    "chunks": "chunks: list[str] = []",
    "call_model": "def call_model(feedback: str | None) -> str: return ''",
    "use_it": "def use_it(document: object) -> None: ...",
    "run": "def run(tool: str | None, arguments: str | None) -> object: ...",
    "tell_the_model": "def tell_the_model(text: str) -> None: ...",
}
# Packages that are too large to install here. `cargo xtask scale archives` installs them and runs such programs.
ENGINES = re.compile(r"^(?:import|from) (?:pyarrow|pyspark|ray)\b", re.MULTILINE)
GIVEN_IN_TYPESCRIPT = {
    "Gate": 'import { Gate } from "seamgate";',
    "contract": "declare const contract: Record<string, unknown>;",
    "profile": "declare const profile: Record<string, unknown>;",
    "output": "declare const output: string;",
    "run": "declare function run(tool: string, json: string): Promise<unknown>;",
}
STRICT = {
    "module": "NodeNext",
    "target": "ES2023",
    "types": ["node"],
    "strict": True,
    "skipLibCheck": True,
    "noEmit": True,
}


def snippets(pages, languages):
    """Each snippet with a name that says where it stands."""
    fence = re.compile(rf"^```({'|'.join(languages)})\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    for page in pages:
        text = Path(page).read_text()
        for found in fence.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            yield re.sub(r"\W", "_", page.removesuffix(".md")) + f"_{line}", found[2]


def lacking(code):
    """The names that a snippet in Python uses before it defines them, if it does."""
    tree = ast.parse(code)
    bound = set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        if isinstance(node, ast.arg):
            bound.add(node.arg)
        if isinstance(node, ast.comprehension):
            bound |= {name.id for name in ast.walk(node.target) if isinstance(name, ast.Name)}
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {(name.asname or name.name).split(".")[0] for name in node.names}
    first = {}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    for node in sorted(names, key=lambda node: (node.lineno, node.col_offset)):
        first.setdefault(node.id, node)
    return sorted(name for name, node in first.items() if isinstance(node.ctx, ast.Load) and name not in bound)


def in_python(pages, folder, checker, node):
    """Returns how many there are."""
    files = [Path(page) for page in pages if page.endswith(".py")]
    pages = [page for page in pages if page.endswith(".md")]
    for name, code in snippets(pages, ["python"]):
        if ENGINES.search(code):
            continue
        unknown = [of for of in lacking(code) if of not in GIVEN]
        if unknown:
            sys.exit(f"{name}: the snippet does not say what {', '.join(unknown)} is: say it there, or in GIVEN")
        given = "\n".join(GIVEN[of] for of in lacking(code))
        files.append(folder / f"{name}.py")
        files[-1].write_text(f"{given}\n{code}")
    python = ["--python-executable", sys.executable]
    subprocess.run([checker, "-m", "mypy", "--strict", "--cache-dir", folder / "cache", *python, *files], check=True)
    settings = {"typeCheckingMode": "strict", "include": ["*.py"]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    pyright = ["node", node / "node_modules/pyright/index.js", "--pythonpath", sys.executable, "--project", folder]
    subprocess.run(pyright, check=True)
    return len(files)


def in_typescript(pages, folder, compiler):
    """Returns how many there are."""
    files = []
    for name, code in snippets([page for page in pages if page.endswith(".md")], ["js", "ts"]):
        imported = set(re.findall(r"\w+", " ".join(re.findall(r"^import \{(.*?)\}", code, re.MULTILINE))))
        defined = imported | set(re.findall(r"(?:const|function|class) (\w+)", code))
        defined |= set(re.findall(r"\w+", " ".join(re.findall(r"const \{(.*?)\}", code))))
        used = set(re.findall(r"(?<![.\w])\w+", code))
        given = "\n".join(text for name, text in GIVEN_IN_TYPESCRIPT.items() if name in used - defined)
        files.append(folder / f"{name}.ts")
        files[-1].write_text(f"{given}\n{code}\nexport {{}};\n")
    # The types of Node are beside the compiler.
    types = {"typeRoots": [str(compiler.parents[2] / "@types")]}
    configuration = {"compilerOptions": {**STRICT, **types}, "files": [file.name for file in files]}
    (folder / "tsconfig.json").write_text(json.dumps(configuration))
    subprocess.run(["node", compiler, "--project", folder], check=True)
    return len(files)


def main():
    checker, node, compiler, *pages = sys.argv[1:]
    folder = Path(node).resolve() / "recipes/snippets"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{ "type": "module" }\n')
    count = in_python(pages, folder, checker, Path(node).resolve())
    more = in_typescript(pages, folder, Path(compiler).resolve())
    print(f"{count} programs and snippets in Python, and {more} in TypeScript and JavaScript, have no errors of types")


if __name__ == "__main__":
    main()
