"""The rules that make a profile of definitions of tools: of names, descriptions and schemas, and of nothing else."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# The first verbs of a description decide whether a tool only reads. An unknown verb is an effect.
READS = set(
    "get list search find view read show display retrieve check look lookup estimate compute calculate verify count "
    "predict analyze compare access fetch browse describe monitor track convert perform provide return reverse sort "
    "filter query navigate ask".split()
)
WRITES = set(
    "add remove update delete cancel create change set send share post reply manage move write edit modify redirect "
    "download store import export enable disable upload make place schedule request record handle confirm".split()
)

# First verbs of the name or the description: arguments leave for others.
LEAVES = set(
    "send share post tweet retweet reply comment publish invite mention contact consult export upload transfer pay "
    "hand withdraw deposit".split()
)
# So does a thing that others read, if it is made or changed.
MAKES = set("create update make leave".split())
PUBLIC = set("post comment link message tweet review issue".split())
# Words of the name or the first sentence: money, access, bookings, deletions.
GRAVE = set(
    "pay transfer money fund funds withdraw buy sell trade order orders purchase transaction bill book booking "
    "reservation reservations booked delete deletes remove removes cancel cancels clear clears share shares grant "
    "grants revoke revokes unlock unlocks password passwords permission permissions privacy collaborator "
    "collaborators membership factor disable disables execute appointment appointments".split()
)

# Words of results: people other than the user write in their own words.
OTHERS = set(
    "email emails mail message messages sms post posts tweet tweets comment comments review reviews content contents "
    "body note notes notebook web webpage page snippet html file files line lines transactions transaction "
    "event events description descriptions issue issues ticket tickets profile bio title subject text requests "
    "document documents feedback answer repository repositories history".split()
)
# Words of the tool or its results: what only the user or their circle may read.
OWN = set(
    "user user's users account accounts inbox email emails message messages sms contact contacts history payment "
    "payments address addresses saved medical health patient patients personal prescription prescriptions order "
    "orders transaction transactions balance calendar event events file files folder directory note notes notebook "
    "password passwords person persons card cards booking bookings invoice ticket tickets genetic device devices "
    "guest guests reminder reminders task tasks appointment appointments shipment shipments inventory watchlist "
    "holdings logs policy policies reservations location wallet".split()
)

# Words of an argument's name: it decides who receives something, what is changed or deleted, or how much is paid.
TARGETS = set(
    "id ids to cc bcc recipient recipients receiver requestee attendee attendees email emails phone username user "
    "usernames contact account amount price quantity path paths file folder directory dir source destination url "
    "website domain domains channel device symbol stock stocks ticker command password address app name names items "
    "action operation card location service mentions mentioned room number numbers limit level visibility from".split()
)
# Words of an argument's name that win over the former: it is content, time or a credential.
CONTENT = set(
    "content body message text subject description note reason comment review date time timezone title token "
    "attachments attachment media remark info data parameters updates settings filters max results recurrence "
    "reminder priority status rating resolution type tags emoji presence profile".split()
)
GROUPS = [
    set("user username receiver recipient friend contact payee member customer requestee guest attendee".split()),
    set("to cc bcc email from sender".split()),
    set("stock symbol ticker".split()),
    set("file folder directory dir source destination path item".split()),
    set("city location address airport".split()),
]
NAMES = "name title subject filename file_name username user_name event_name task_name item_name service_name".split()


@dataclass
class Field:
    """A value of a result: the path to it, the path to what holds it, and its name."""

    path: str
    within: str
    name: str
    is_list: bool = False
    said: str = ""


@dataclass
class Tool:
    """A tool as a suite defines it. `arguments` is its JSON Schema."""

    kit: str
    name: str
    description: str
    arguments: dict
    fields: list[Field] = field(default_factory=list)
    said: str = ""
    """Returns what the definition says about results."""

    def definition(self) -> dict:
        """Return the definition for a lock file."""
        return {"name": self.name, "description": self.description, "inputSchema": self.arguments}


def profile(agent: str, description: str, tools: list[Tool], bare: set[str]) -> dict:
    """Return the profile of a suite. `bare` has the toolkits whose tools only compute."""
    kinds = {tool.name: kind(tool, bare) for tool in tools}
    labels = {tool.name: labels_of(tool, bare) for tool in tools}
    flows = [
        {"after": "untrusted", "to": "effectful", "unless": "origins", "then": "approval"},
        {"after": "private", "to": "egress", "unless": "origins", "then": "approval"},
    ]
    return {
        "agent": agent,
        "version": "1.0.0",
        "description": description,
        "user_messages": "client",
        "approvers": {"owner": [{"principal": "owner"}]},
        "tools": [entry(tool, kinds[tool.name], tools, labels) for tool in tools],
        "flows": flows,
        "budget": {"tool_calls": 200, "same_call": 10, "ms": 3600000},
    }


def entry(tool: Tool, effect: str, tools: list[Tool], labels: dict[str, list[str]]) -> dict:
    """Return a tool's entry of a profile."""
    known: dict = {"name": tool.name, "effect": effect}
    words = {*split(tool.name), *plain(sentence(tool))}
    own = split(tool.name.removeprefix(tool.kit))
    first = {own[0], *leading(tool.description)}
    is_sent = first & LEAVES or (first & MAKES and {singular(word) for word in own} & PUBLIC)
    arguments = tool.arguments["properties"]
    address = [name for name in arguments if {"url", "website"} & set(split(name))]
    if (effect == "effectful" and is_sent) or address:
        known["egress"] = True
    known["permit"] = "allow"
    known["result"] = {"max_bytes": 200000, "labels": labels[tool.name]}
    if effect != "effectful" and not address:
        return known
    is_grave = effect == "effectful" and bool(words & GRAVE)
    rules = origins(tool, tools, labels, is_grave)
    if rules:
        known["origins"] = rules
    elif is_grave:
        known["permit"] = {"approval": {"by": ["owner"], "ttl_s": 600}}
    return known


def kind(tool: Tool, bare: set[str]) -> str:
    """Returns whether a tool reads, moves within a session, or does more."""
    if tool.kit in bare:
        return "read"
    if "working directory" in tool.description and split(tool.name)[0] not in READS and "folder" in str(tool.arguments):
        return "idempotent"
    verbs = leading(tool.description)
    name = split(tool.name.removeprefix(tool.kit))
    if {name[0], *verbs} & WRITES:
        return "effectful"
    if (verbs and verbs[0] in READS) or name[0] in READS or name[-1] == "search":
        return "read"
    return "effectful"


def labels_of(tool: Tool, bare: set[str]) -> list[str]:
    """Returns the labels of a result, by the words of the definition."""
    if tool.kit in bare:
        return []
    about = {*plain(tool.said), *(word for one in tool.fields for word in split(one.name))}
    named = {*about, *split(tool.name), *plain(sentence(tool))}
    found = ["private"] if named & OWN else []
    # An effect says how it went.
    is_told = kind(tool, bare) == "effectful" or not named & OTHERS
    return found if is_told else [*found, "untrusted"]


def origins(tool: Tool, tools: list[Tool], labels: dict[str, list[str]], is_grave: bool) -> list[dict]:
    """Return where the targets of a tool come from, or nothing if a target is an object: no path holds all of it."""
    rules = []
    for name, schema in targets(tool).items():
        if schema.get("type") == "object":
            return []
        path = f"$.{name}[*]" if schema.get("type") == "array" else f"$.{name}"
        found = ["user", *lookups(name, tool, tools, labels)]
        rules.append({"path": path, "from": found, **({"else": "approval"} if is_grave else {})})
    return rules


def targets(tool: Tool) -> dict[str, dict]:
    """Return the arguments that decide on the target of a call. If no name says so, all that are required do."""
    known = tool.arguments["properties"]
    held = {name: it for name, it in known.items() if it.get("type") != "boolean" and not set(split(name)) & CONTENT}
    named = {name: it for name, it in held.items() if decides(split(name))}
    return named or {name: it for name, it in held.items() if name in tool.arguments.get("required", [])}


def decides(words: list[str]) -> bool:
    """Returns whether the name of an argument says that it is a target. `from` and `to` must be at its beginning or
    end."""
    ends = {words[0], words[-1]}
    return any(word in TARGETS and (word not in ("from", "to") or word in ends) for word in words)


def lookups(name: str, tool: Tool, tools: list[Tool], labels: dict[str, list[str]]) -> Iterator[dict]:
    """Find the results of the same toolkit that hold values for an argument."""
    for other in tools:
        if other.kit != tool.kit or other.name == tool.name:
            continue
        for one in other.fields:
            if not fits(name, one, other):
                continue
            if "untrusted" not in labels[other.name]:
                yield {"tool": other.name, "at": one.path}
            elif (named := names(one, other)) and named.path != one.path:
                yield {"tool": other.name, "at": one.path, "named": named.path}


def names(one: Field, other: Tool) -> Field | None:
    """Return the field that names the item in which a field stands."""
    return next((it for it in other.fields if it.within == one.within and it.name in NAMES), None)


def fits(name: str, one: Field, other: Tool) -> bool:
    """Returns whether a field of a result has values for an argument: it has the same name, or is an id of such an
    object."""
    wanted, have = [singular(word) for word in split(name)], [singular(word) for word in split(one.name)]
    if wanted == have:
        return True
    about = {singular(word) for word in [*split(one.within), *split(other.name)]}
    rest = {*wanted} - {"id", "name", "new", "target", "from", "to"}
    nouns = grouped(rest or {*wanted} - {"id"})
    if "id" in wanted:
        return have[-1:] == ["id"] and bool(nouns & (grouped({*have} - {"id"}) if len(have) > 1 else about))
    if one.is_list:
        return bool(nouns & grouped({*have, *map(singular, plain(one.said))}))
    return len(nouns) > 0 and nouns == grouped({*have})


def grouped(nouns: set[str]) -> set[str]:
    """Add the other words for the same things."""
    return nouns.union(*(group for group in GROUPS if group & nouns))


def sentence(tool: Tool) -> str:
    """Return the first sentence of a description."""
    return re.split(r"\.\s|\n", tool.description, maxsplit=1)[0]


def leading(description: str) -> list[str]:
    """Return the first verb of a description, and those that `,`, `and` or `or` join to it."""
    found = re.match(r"[A-Za-z]+(?:(?:, and |, or |, | and | or )[A-Za-z]+)*", description)
    return (
        [stem(word) for word in re.split(r"[, ]+", found.group().lower()) if word not in ("and", "or")] if found else []
    )


def stem(verb: str) -> str:
    """Return a verb without the ending of the third person."""
    for known in READS | WRITES | LEAVES | MAKES:
        if verb in (known, f"{known}s", f"{known}es", f"{known[:-1]}ies"):
            return known
    return verb


def singular(noun: str) -> str:
    """Return a noun without the ending of the plural."""
    return noun[:-1] if (noun.endswith("s") and not noun.endswith("ss") and len(noun) > 3) or noun == "ids" else noun


def split(name: str) -> list[str]:
    """Split a name into its words."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)]


def plain(text: str) -> list[str]:
    """Return the words of a text. Names such as `tweet_id` fall into theirs."""
    return re.findall(r"[a-z][a-z']*", text.lower().replace("_", " "))
