//! Logins: OAuth 2.1 with a scripted authorization server. `seamgate mcp login` requests the tokens, and `seamgate
//! agent` uses them.
#![cfg(unix)]

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{Arc, Mutex, OnceLock},
};

use data_encoding::BASE64URL_NOPAD;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::{
    server::{Reply, Request, Server},
    session::result,
};

/// The differences between the servers in these tests.
#[derive(Clone)]
struct Script {
    /// `true` if the challenge names the resource's metadata.
    is_named: bool,
    /// The metadata of the authorization server, in addition to the common members. `ORIGIN` stands for its origin.
    metadata: Value,
    /// The resource that the metadata describes. `ORIGIN` stands for the server's origin.
    resource: String,
    /// The parameters that the browser sends in addition to the state.
    brings: String,
    /// The lifetime of each access token, in seconds.
    expires_in: u64,
    /// `true` if a session needs no token, and only the list of tools does.
    opens_to_all: bool,
    /// The scope that the list of tools requires.
    needs: &'static str,
}

impl Default for Script {
    fn default() -> Self {
        Script {
            is_named: true,
            metadata: json!({}),
            resource: "ORIGIN/mcp".to_owned(),
            brings: "code=the-code&iss=ORIGIN".to_owned(),
            expires_in: 3600,
            opens_to_all: false,
            needs: "",
        }
    }
}

/// A server that is also its own authorization server, and a folder with a servers file.
struct Place {
    folder: PathBuf,
    server: Server,
    tokens: Arc<Mutex<Tokens>>,
}

#[derive(Default)]
struct Tokens {
    given: usize,
    /// The only valid access token.
    valid: String,
    challenge: String,
    /// The scopes of the last login.
    scope: String,
}

fn form(text: &str) -> BTreeMap<String, String> {
    let decode = |text: &str| {
        let mut bytes = Vec::new();
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            match byte {
                b'%' => {
                    let hex: String = rest.by_ref().take(2).map(char::from).collect();
                    bytes.push(u8::from_str_radix(&hex, 16).expect("two digits"));
                }
                byte => bytes.push(byte),
            }
        }
        String::from_utf8(bytes).expect("UTF-8")
    };
    text.split('&').filter_map(|pair| pair.split_once('=')).map(|(name, value)| (decode(name), decode(value))).collect()
}

fn answer(script: &Script, origin: &str, tokens: &Mutex<Tokens>, request: &Request, reply: &mut Reply) {
    let mut tokens = tokens.lock().expect("no panic");
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    match path {
        "/.well-known/oauth-protected-resource/mcp" => {
            let resource = script.resource.replace("ORIGIN", origin);
            reply.json(
                200,
                &json!({ "resource": resource, "authorization_servers": [origin], "scopes_supported": ["read"] }),
            );
        }
        "/.well-known/oauth-authorization-server" => {
            let mut metadata = json!({
                "issuer": origin, "authorization_endpoint": format!("{origin}/authorize"), "token_endpoint": format!("{origin}/token"),
                "registration_endpoint": format!("{origin}/register"), "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": true });
            for (name, value) in script.metadata.as_object().expect("an object") {
                metadata[name] = match value {
                    Value::String(text) => text.replace("ORIGIN", origin).into(),
                    value => value.clone(),
                };
            }
            reply.json(200, &metadata);
        }
        "/register" => {
            let asked = request.json();
            assert_eq!(
                (&asked["token_endpoint_auth_method"], &asked["application_type"]),
                (&json!("none"), &json!("native"))
            );
            reply.json(201, &json!({ "client_id": "registered" }));
        }
        "/authorize" => {
            let asked = form(query);
            assert_eq!((&*asked["response_type"], &*asked["code_challenge_method"]), ("code", "S256"));
            assert_eq!(asked["resource"], format!("{origin}/mcp"));
            tokens.challenge.clone_from(&asked["code_challenge"]);
            tokens.scope = asked.get("scope").cloned().unwrap_or_default();
            let brings = script.brings.replace("ORIGIN", &origin.replace(':', "%3A").replace('/', "%2F"));
            let location = format!("{}?{brings}&state={}", asked["redirect_uri"], asked["state"]);
            reply.send(302, &[("Location", &location)], "");
        }
        "/token" => {
            let asked = form(&request.body);
            assert_eq!(asked["resource"], format!("{origin}/mcp"));
            let is_valid = match &*asked["grant_type"] {
                "authorization_code" => {
                    let challenge = BASE64URL_NOPAD.encode(digest(&SHA256, asked["code_verifier"].as_bytes()).as_ref());
                    asked["code"] == "the-code" && challenge == tokens.challenge
                }
                _ => asked["refresh_token"] == format!("refresh-{}", tokens.given),
            };
            if !is_valid {
                return reply.json(400, &json!({ "error": "invalid_grant", "error_description": "no" }));
            }
            tokens.given += 1;
            tokens.valid = format!("access-{}", tokens.given);
            reply.json(
                200,
                &json!({ "access_token": tokens.valid, "token_type": "Bearer", "expires_in": script.expires_in,
                "refresh_token": format!("refresh-{}", tokens.given) }),
            );
        }
        "/mcp" if script.opens_to_all && request.json()["method"] != "tools/list" => {
            assert!(crate::session::opens(request, reply), "{request:?}");
        }
        "/mcp" if tokens.valid.is_empty() || request.header("authorization") != format!("Bearer {}", tokens.valid) => {
            let metadata = format!("{origin}/.well-known/oauth-protected-resource/mcp");
            let challenge = match script.is_named {
                true if script.opens_to_all => format!("Bearer scope=\"list\", resource_metadata=\"{metadata}\""),
                true => format!("Basic realm=\"x\", Bearer error=\"invalid_token\", resource_metadata=\"{metadata}\""),
                false => "Bearer".to_owned(),
            };
            reply.send(401, &[("WWW-Authenticate", &challenge)], "");
        }
        "/mcp"
            if request.json()["method"] == "tools/list"
                && !tokens.scope.split(' ').any(|scope| scope == script.needs || script.needs.is_empty()) =>
        {
            let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{}\"", script.needs);
            reply.send(403, &[("WWW-Authenticate", &challenge)], "");
        }
        "/mcp" => {
            drop(tokens);
            let message = request.json();
            match message["method"].as_str() {
                Some("tools/list") => {
                    let tools = json!([{ "name": "peek", "inputSchema": { "type": "object" } }]);
                    reply.json(200, &json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "tools": tools } }));
                }
                Some("tools/call") => reply.json(200, &result(&message["id"], "seen from afar")),
                _ => assert!(crate::session::opens(request, reply), "{request:?}"),
            }
        }
        _ => reply.send(404, &[], ""),
    }
}

impl Place {
    fn new(name: &str, script: Script, oauth: Value) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("remote").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        let tokens = Arc::<Mutex<Tokens>>::default();
        let (own, origin) = (Arc::clone(&tokens), Arc::<OnceLock<String>>::default());
        let of_server = Arc::clone(&origin);
        let server = Server::start(move |request, reply| {
            answer(&script, of_server.get().map_or("", String::as_str), &own, request, reply);
        });
        origin.set(format!("http://127.0.0.1:{}", server.port)).expect("set once");
        let place = Place { folder, server, tokens };
        let far = json!({ "mcp": { "url": place.server.url(), "oauth": oauth } });
        place.write("far.servers.json", &json!({ "servers": { "far": far } }).to_string());
        place.write(
            "ops.profile.json",
            &json!({
                "agent": "ops", "version": "1.0.0", "prompt": { "role": "You look." },
                "tools": [{ "name": "peek", "server": "far", "effect": "read", "permit": "allow" }],
                "budget": { "steps": 6, "tool_calls": 6, "same_call": 2, "tokens": 600_000, "ms": 600_000 },
                "final": { "contract": { "agent": "ops", "schema": { "type": "object", "required": ["cause"] } } },
            })
            .to_string(),
        );
        let lock =
            json!({ "servers": { "far": { "tools": [{ "name": "peek", "inputSchema": { "type": "object" } }] } } });
        place.write("ops.lock.json", &lock.to_string());
        place.write(
            "model.sh",
            r#"case $(cat) in
  *'"call":"c1"'*) echo '{"text":"{\"cause\":\"seen\"}"}' ;;
  *) echo '{"calls":[{"id":"a","tool":"peek","arguments":{}}]}' ;;
esac
"#,
        );
        place
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.join(name), text).expect("a file");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let test = std::env::current_exe().expect("this test");
        let folder = test.parent().and_then(Path::parent).expect("target/PROFILE");
        let mut command = Command::new(folder.join("seamgate"));
        let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/user-cache");
        command.current_dir(&self.folder).env_remove("RUST_LOG").env("XDG_CACHE_HOME", cache).args(arguments);
        command.env("XDG_STATE_HOME", self.folder.join("state")).env("CLIENT_SECRET", "s e:cret");
        command
    }

    /// Logs in like a person: opens the address and follows the redirects.
    fn login(&self) -> Output {
        let arguments = ["mcp", "login", "--servers", "far.servers.json", "far", "--no-browser", "--timeout", "20"];
        let mut command = self.command(&arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a login");
        let mut errors = BufReader::new(child.stderr.take().expect("standard error"));
        let mut told = String::new();
        let mut line = String::new();
        while errors.read_line(&mut line).is_ok_and(|length| length > 0) {
            if let Some(address) = line.trim().strip_prefix("http://") {
                let location = get(address);
                get(location.trim_start_matches("http://"));
            }
            told.push_str(&std::mem::take(&mut line));
        }
        let mut output = child.wait_with_output().expect("an end");
        output.stderr = told.into_bytes();
        output
    }

    fn agent(&self, journal: &str) -> Output {
        let arguments = ["agent", "-p", "ops.profile.json", "--servers", "far.servers.json", "--as", "joe"];
        let rest = ["--task", "{}", "--journal", journal, "--", "sh", "model.sh"];
        self.command(&[&arguments[..], &rest].concat()).output().expect("an end")
    }

    fn token_file(&self) -> PathBuf {
        let folder = self.folder.join("state/seamgate/tokens");
        let mut files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        files.find(|path| path.extension().is_some_and(|kind| kind == "json")).expect("a file")
    }

    /// Fails if the output of a command or a journal contains a secret.
    fn hides_tokens(&self, outputs: &[&Output]) {
        let mut texts: Vec<String> = outputs.iter().map(|output| all_of(output)).collect();
        let mut folders: Vec<PathBuf> = ["run1", "run2"].iter().map(|name| self.folder.join(name)).collect();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.path().is_dir() {
                    true => folders.push(entry.path()),
                    false => texts.push(String::from_utf8_lossy(&fs::read(entry.path()).expect("a file")).into_owned()),
                }
            }
        }
        for secret in ["access-", "refresh-", "the-code", "s e:cret"] {
            assert!(!texts.iter().any(|text| text.contains(secret)), "{secret} stands in {texts:?}");
        }
    }
}

/// Requests an address, which begins with the host. Returns the `Location`.
fn get(address: &str) -> String {
    let (host, path) = address.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("a connection");
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = Vec::new();
    let _ = stream.set_read_timeout(Some(std::time::Duration::from_secs(1)));
    let mut buffer = [0; 4096];
    while let Ok(length) = stream.read(&mut buffer) {
        answer.extend_from_slice(&buffer[..length]);
        if length == 0 || answer.windows(4).any(|end| end == b"\r\n\r\n") {
            break;
        }
    }
    let answer = String::from_utf8_lossy(&answer).into_owned();
    answer.lines().find_map(|line| line.strip_prefix("Location: ")).unwrap_or_default().to_owned()
}

fn all_of(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn login_is_kept_used_and_refreshed() {
    let place = Place::new("login", Script::default(), json!({}));
    let before = place.agent("run1");
    assert_eq!(before.status.code(), Some(5), "{}", all_of(&before));
    let hint = format!("Run `seamgate mcp login --servers {} far`", place.folder.join("far.servers.json").display());
    assert!(all_of(&before).contains(&hint), "{}", all_of(&before));
    fs::remove_dir_all(place.folder.join("run1")).ok();

    let login = place.login();
    assert_eq!(login.status.code(), Some(0), "{}", all_of(&login));
    assert!(all_of(&login).contains("Logged in to http://127.0.0.1:"), "{}", all_of(&login));
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    let file = place.token_file();
    assert_eq!((mode(&file), mode(file.parent().expect("a folder"))), (0o600, 0o700));

    let first = place.agent("run1");
    assert_eq!(first.status.code(), Some(0), "{}", all_of(&first));
    assert_eq!(place.tokens.lock().expect("no panic").given, 1);

    // The server revokes the token. The token is refreshed, and the request is sent again.
    place.tokens.lock().expect("no panic").valid = "none".to_owned();
    let second = place.agent("run2");
    assert_eq!(second.status.code(), Some(0), "{}", all_of(&second));
    assert_eq!(place.tokens.lock().expect("no panic").given, 2);
    assert!(fs::read_to_string(&file).expect("text").contains("refresh-2"));
    place.hides_tokens(&[&before, &login, &first, &second]);

    // Only the authorization server receives a refresh token.
    for request in place.server.seen().iter().filter(|request| request.path != "/token") {
        assert!(!format!("{request:?}").contains("refresh-"), "{request:?}");
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("rights");
    fs::remove_dir_all(place.folder.join("run2")).expect("a folder");
    let readable = place.agent("run2");
    assert!(all_of(&readable).contains("other users can read it"), "{}", all_of(&readable));
}

#[test]
fn expired_token_is_refreshed_before_it_is_sent() {
    let place = Place::new("expired", Script { expires_in: 1, ..Script::default() }, json!({}));
    assert_eq!(place.login().status.code(), Some(0));
    let run = place.agent("run1");
    assert_eq!(run.status.code(), Some(0), "{}", all_of(&run));
    assert!(place.tokens.lock().expect("no panic").given > 1);
    let seen = place.server.seen();
    let after = seen.iter().skip_while(|request| request.path != "/token");
    assert!(!after.skip(1).any(|request| request.header("authorization") == "Bearer access-1"), "it had expired");
}

#[test]
fn grant_that_ended_asks_for_another_login() {
    let place = Place::new("ended", Script { expires_in: 1, ..Script::default() }, json!({}));
    assert_eq!(place.login().status.code(), Some(0));
    place.tokens.lock().expect("no panic").given = 9;
    let run = place.agent("run1");
    assert_eq!(run.status.code(), Some(5));
    assert!(
        all_of(&run).contains("not valid any more") && all_of(&run).contains("seamgate mcp login"),
        "{}",
        all_of(&run)
    );
}

#[test]
fn registered_client_sends_its_secret_from_the_environment() {
    let oauth = json!({ "client_id": "mine", "client_secret": "${CLIENT_SECRET}", "scopes": ["a", "b"] });
    let place = Place::new("registered", Script { is_named: false, ..Script::default() }, oauth);
    let login = place.login();
    assert_eq!(login.status.code(), Some(0), "{}", all_of(&login));
    let seen = place.server.seen();
    assert!(!seen.iter().any(|request| request.path == "/register"));
    assert!(seen.iter().any(|request| request.path.starts_with("/authorize?") && request.path.contains("scope=a%20b")));
    let token = seen.iter().find(|request| request.path == "/token").expect("a request");
    // RFC 6749, section 2.3.1: both values are encoded as in a form.
    let basic = data_encoding::BASE64.encode(b"mine:s%20e%3Acret");
    assert_eq!(token.header("authorization"), format!("Basic {basic}"));
    drop(seen);
    assert!(!fs::read_to_string(place.token_file()).expect("text").contains("s e:cret"), "the secret is not kept");
    place.hides_tokens(&[&login]);
}

/// Returns the scopes that each login requested.
fn scopes(place: &Place) -> Vec<String> {
    let seen = place.server.seen();
    let asked = seen.iter().filter_map(|request| request.path.strip_prefix("/authorize?"));
    asked.map(|query| form(query)["scope"].clone()).collect()
}

#[test]
fn login_asks_for_the_scopes_that_the_list_of_tools_needs() {
    let place = Place::new("open", Script { opens_to_all: true, ..Script::default() }, json!({}));
    let login = place.login();
    assert_eq!(login.status.code(), Some(0), "{}", all_of(&login));
    assert_eq!(scopes(&place), ["list"], "not those of the metadata");
}

#[test]
fn next_login_asks_for_the_scopes_that_a_request_lacked() {
    let place = Place::new("narrow", Script { needs: "write", ..Script::default() }, json!({}));
    assert_eq!(place.login().status.code(), Some(0));
    let narrow = place.agent("run1");
    assert_ne!(narrow.status.code(), Some(0));
    let told = all_of(&narrow);
    assert!(told.contains("needs the scopes write") && told.contains("seamgate mcp login"), "{told}");
    fs::remove_dir_all(place.folder.join("run1")).ok();

    assert_eq!(place.login().status.code(), Some(0));
    assert_eq!(scopes(&place), ["read", "read write"]);
    let wide = place.agent("run1");
    assert_eq!(wide.status.code(), Some(0), "{}", all_of(&wide));
    assert!(!fs::read_to_string(place.token_file()).expect("text").contains("lacked"), "once is enough");
}

#[test]
fn chosen_scopes_are_not_widened() {
    let place = Place::new("chosen", Script { needs: "write", ..Script::default() }, json!({ "scopes": ["read"] }));
    assert_eq!(place.login().status.code(), Some(0));
    let narrow = place.agent("run1");
    assert!(all_of(&narrow).contains("add them to \"scopes\" in the servers file"), "{}", all_of(&narrow));
    assert_eq!(place.login().status.code(), Some(0));
    assert_eq!(scopes(&place), ["read", "read"]);
}

#[test]
fn wrong_servers_get_no_code() {
    let with = |metadata: Value| Script { metadata, ..Script::default() };
    let brings = |brings: &str| Script { brings: brings.to_owned(), ..Script::default() };
    for (name, script, why) in [
        ("issuer", with(json!({ "issuer": "https://evil.example" })), "its issuer is https://evil.example"),
        ("pkce", with(json!({ "code_challenge_methods_supported": ["plain"] })), "PKCE"),
        ("endpoint", with(json!({ "token_endpoint": "http://192.0.2.1/token" })), "must begin with https://"),
        ("link-local", with(json!({ "registration_endpoint": "https://169.254.169.254/r" })), "link-local"),
        (
            "resource",
            Script { resource: "https://other.example/mcp".to_owned(), ..Script::default() },
            "describes the resource",
        ),
        (
            "other-iss",
            brings("code=the-code&iss=https%3A%2F%2Fevil.example"),
            "the answer came from https://evil.example",
        ),
        ("no-iss", brings("code=the-code"), "does not name"),
        (
            "denied",
            brings("error=access_denied&error_description=go%1B%5B2Jaway&iss=ORIGIN"),
            "refused the login: access_denied",
        ),
        ("no-registration", with(json!({ "registration_endpoint": null })), "\"client_id\""),
    ] {
        let place = Place::new(&format!("wrong-{name}"), script, json!({}));
        let login = place.login();
        let told = all_of(&login);
        assert_eq!(login.status.code(), Some(5), "{name}: {told}");
        assert!(told.contains(why), "{name}: {told}");
        assert!(!told.contains('\u{1b}'), "{name}: {told:?}");
        assert!(!place.server.seen().iter().any(|request| request.path == "/token"), "{name}");
    }
}
