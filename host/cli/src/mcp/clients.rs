//! The configuration of clients: where each keeps it, and the form of an entry. `docs/mcp-clients.md` has the same
//! forms, and a test compares them.

use serde_json::json;

/// A client of MCP.
pub(super) struct Client {
    /// The value of `--client` for this client.
    pub(super) name: &'static str,
    /// The step that the user must take with the entry, as the rest of a sentence.
    pub(super) task: &'static str,
    form: Form,
    /// The syntax with which the client passes on a variable of its own environment, with `NAME` in place of the
    /// variable's name. `None` if the entry must contain the value itself.
    variable: Option<&'static str>,
}

/// The form of an entry.
enum Form {
    /// JSON: the member that contains the entries, and members of the entry that precede the command.
    Json { member: &'static str, first: &'static [(&'static str, &'static str)] },
    /// A shell command, which takes the gate's command after `NAME --`.
    Shell { command: &'static str, variable: &'static str },
    /// A TOML table, as Codex uses it.
    Toml,
    /// A YAML extension, as Goose uses it.
    Yaml,
}

/// The form that most clients use.
const COMMON: Form = Form::Json { member: "mcpServers", first: &[] };

/// The clients by their names in `--client`.
pub(super) const CLIENTS: [Client; 9] = [
    Client {
        name: "claude-code",
        task: "run this in the folder of the project; '--scope user' before the first '--' holds for all projects",
        form: Form::Shell { command: "claude mcp add", variable: "--env" },
        variable: Some("\"$NAME\""),
    },
    Client {
        name: "claude-desktop",
        task: "put this into claude_desktop_config.json (Settings, Developer, Edit Config)",
        form: COMMON,
        variable: None,
    },
    Client { name: "codex", task: "put this into ~/.codex/config.toml", form: Form::Toml, variable: None },
    Client {
        name: "cursor",
        task: "put this into ~/.cursor/mcp.json, or .cursor/mcp.json in a project",
        form: COMMON,
        variable: Some("${env:NAME}"),
    },
    Client {
        name: "gemini-cli",
        task: "put this into ~/.gemini/settings.json, or .gemini/settings.json in a project",
        form: COMMON,
        variable: Some("$NAME"),
    },
    Client { name: "goose", task: "put this into ~/.config/goose/config.yaml", form: Form::Yaml, variable: None },
    Client {
        name: "vscode",
        task: "put this into .vscode/mcp.json in a workspace, or the file that the command MCP: Open User Configuration opens",
        form: Form::Json { member: "servers", first: &[("type", "stdio")] },
        variable: Some("${env:NAME}"),
    },
    Client {
        name: "windsurf",
        task: "put this into ~/.codeium/windsurf/mcp_config.json",
        form: COMMON,
        variable: Some("${env:NAME}"),
    },
    Client {
        name: "zed",
        task: "put this into the settings (zed: open settings file)",
        form: Form::Json { member: "context_servers", first: &[] },
        variable: None,
    },
];

/// A client with the form that most others accept, too.
pub(super) const ANY: Client =
    Client { name: "", task: "put this into the configuration of your client", form: COMMON, variable: None };

/// The time in seconds that a client waits for a call that needs approval, if its configuration can set this.
const TIMEOUT_S: u32 = 300;

/// The gate as an entry of a client's configuration.
pub(super) struct Entry {
    /// The name of the entry.
    pub(super) name: String,
    /// The path of the command `seamgate`.
    pub(super) gate: String,
    /// The arguments of the gate, up to `--`.
    pub(super) arguments: Vec<String>,
    /// The command of the server.
    pub(super) server: Vec<String>,
    /// The variables that the client must pass to the gate.
    pub(super) variables: Vec<String>,
}

impl Client {
    /// Finds a client by its name.
    pub(super) fn named(name: &str) -> Option<&'static Client> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    /// Returns whether the values of variables must be filled in by hand.
    pub(super) fn lacks_values(&self) -> bool {
        self.variable.is_none() && !matches!(self.form, Form::Toml)
    }

    /// Writes the entry in this client's form.
    pub(super) fn entry(&self, entry: &Entry) -> String {
        match self.form {
            Form::Json { member, first } => self.json(entry, member, first),
            Form::Shell { command, variable } => self.shell(entry, command, variable),
            Form::Toml => toml(entry),
            Form::Yaml => self.yaml(entry),
        }
    }

    /// Returns the text that stands in place of a variable's value.
    fn value(&self, name: &str) -> String {
        self.variable.map_or_else(|| format!("VALUE OF {name}"), |form| form.replace("NAME", name))
    }

    fn json(&self, entry: &Entry, member: &str, first: &[(&str, &str)]) -> String {
        let mut members: Vec<String> =
            first.iter().map(|(name, value)| format!("\"{name}\": {}", json!(value))).collect();
        members.push(format!("\"command\": {}", json!(entry.gate)));
        members.push(format!(
            "\"args\": [\n        {},\n        {}\n      ]",
            strings(&entry.arguments),
            strings(&entry.server)
        ));
        if !entry.variables.is_empty() {
            members.push(format!("\"env\": {{ {} }}", self.variables(entry)));
        }
        let members = members.join(",\n      ");
        format!("{{\n  \"{member}\": {{\n    {}: {{\n      {members}\n    }}\n  }}\n}}", json!(entry.name))
    }

    fn variables(&self, entry: &Entry) -> String {
        let variables = entry.variables.iter().map(|name| format!("{}: {}", json!(name), json!(self.value(name))));
        variables.collect::<Vec<_>>().join(", ")
    }

    fn shell(&self, entry: &Entry, command: &str, variable: &str) -> String {
        let words = |words: &[String]| words.iter().map(|argument| word(argument)).collect::<Vec<_>>().join(" ");
        let variables = entry.variables.iter().map(|name| format!(" {variable} {name}={}", self.value(name)));
        format!(
            "{command} {}{} -- \\\n  {} {} \\\n  {}",
            word(&entry.name),
            variables.collect::<String>(),
            word(&entry.gate),
            words(&entry.arguments),
            words(&entry.server)
        )
    }

    fn yaml(&self, entry: &Entry) -> String {
        let name = json!(entry.name);
        format!(
            "extensions:\n  {name}:\n    name: {name}\n    type: stdio\n    enabled: true\n    cmd: {}\n    args: [\n      {},\n      {}]\n    \
             envs: {{{}}}\n    timeout: {TIMEOUT_S}",
            json!(entry.gate),
            strings(&entry.arguments),
            strings(&entry.server),
            self.variables(entry)
        )
    }
}

fn toml(entry: &Entry) -> String {
    let is_bare = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    let name = match entry.name.chars().all(is_bare) {
        true => entry.name.clone(),
        false => json!(entry.name).to_string(),
    };
    let variables = match entry.variables.is_empty() {
        true => String::new(),
        false => format!("\nenv_vars = [{}]", strings(&entry.variables)),
    };
    // Every JSON string is a valid TOML string, too.
    format!(
        "[mcp_servers.{name}]\ncommand = {}\nargs = [\n  {},\n  {}\n]{variables}\ntool_timeout_sec = {TIMEOUT_S}",
        json!(entry.gate),
        strings(&entry.arguments),
        strings(&entry.server)
    )
}

/// Quotes an argument as a word of a shell command.
fn word(argument: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-+=:@%,".contains(character);
    match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', r"'\''")),
    }
}

/// Writes strings as in JSON, separated by commas.
fn strings(words: &[String]) -> String {
    words.iter().map(|word| json!(word).to_string()).collect::<Vec<_>>().join(", ")
}
