//! References to secrets: only a reference that a rule of the profile names is resolved. It needs neither scope nor
//! origin.

use seamgate_kernel::{Profile, permit};
use serde_json::{Value, json};

fn decide(profile: &Value, arguments: &Value) -> Value {
    let profile = Profile::compile(&profile.to_string()).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
    let facts = json!({"run": "r", "principal": "anna", "at": 1, "nonce": "c0ffee00c0ffee00"});
    let call = json!({"key": "c1", "tool": "login", "arguments": arguments});
    let decision =
        permit(&profile, &facts.to_string(), &call.to_string()).unwrap_or_else(|fault| panic!("{}", fault.to_json()));
    serde_json::from_str(&decision).expect("JSON")
}

fn profile(more: &Value) -> Value {
    let mut tool = json!({"name": "login", "effect": "effectful", "permit": "allow", "secrets": [
        {"path": "$.password", "names": ["shop", "old"]}, {"path": "$.logins[*].pin", "names": ["pin"]}]});
    for (name, value) in more.as_object().expect("members") {
        tool[name] = value.clone();
    }
    json!({"agent": "a", "tools": [tool]})
}

#[test]
fn references_are_listed_where_a_rule_names_them() {
    for (arguments, secrets) in [
        (json!({"password": "secret:shop"}), json!([{"at": "/password", "name": "shop"}])),
        (
            json!({"logins": [{"pin": "secret:pin"}, {"pin": "1"}, {"pin": "secret:pin"}], "password": "secret:old"}),
            json!([
                {"at": "/logins/0/pin", "name": "pin"}, {"at": "/logins/2/pin", "name": "pin"},
                {"at": "/password", "name": "old"},
            ]),
        ),
        (json!({"password": "my secret:shop", "user": "secret:shop"}), Value::Null),
        (json!({"password": ["secret:shop"]}), Value::Null),
    ] {
        let decision = decide(&profile(&json!({})), &arguments);
        assert_eq!((&decision["permit"], &decision["secrets"]), (&json!("allow"), &secrets), "{decision}");
        let sent: Value = serde_json::from_str(decision["arguments"].as_str().expect("arguments")).expect("JSON");
        assert_eq!(sent, arguments);
    }
}

#[test]
fn other_references_are_denied_with_the_names_that_fit() {
    for (arguments, expected) in [
        (json!({"password": "secret:pin"}), r#"$.password must be "secret:shop" or "secret:old""#),
        (json!({"password": "secret:"}), r#"$.password must be "secret:shop" or "secret:old""#),
        (json!({"logins": [{"pin": "secret:shop"}]}), r#"$.logins[0].pin must be "secret:pin""#),
    ] {
        let decision = decide(&profile(&json!({})), &arguments);
        assert_eq!(decision["reasons"][0]["code"], "secret", "{decision}");
        assert!(decision["message"].as_str().is_some_and(|message| message.contains(expected)), "{decision}");
        assert!(decision["secrets"].is_null(), "{decision}");
    }
}

#[test]
fn references_need_neither_scope_nor_origin() {
    let rules = [
        json!({"scope": [{"path": "$.password", "values": ["x"]}]}),
        json!({"origins": [{"path": "$.password", "from": ["user"], "else": "deny"}]}),
    ];
    for (more, code) in rules.into_iter().zip(["scope", "origin"]) {
        let decision = decide(&profile(&more), &json!({"password": "secret:shop"}));
        assert_eq!(decision["permit"], "allow", "{decision}");
        let decision = decide(&profile(&more), &json!({"password": "a word"}));
        assert_eq!(decision["reasons"][0]["code"], code, "{decision}");
    }
}

#[test]
fn rules_that_reach_no_text_are_errors() {
    let definition = |property: Value| {
        json!({"definition": {"name": "login",
            "inputSchema": {"type": "object", "properties": {"password": property}, "additionalProperties": false}}})
    };
    let logins = json!([{"path": "$.password", "names": ["shop"]}]);
    for (property, is_right) in [(json!({"type": "string"}), true), (json!({"type": "integer"}), false)] {
        let mut profile = profile(&definition(property));
        profile["tools"][0]["secrets"] = logins.clone();
        assert_eq!(Profile::compile(&profile.to_string()).is_ok(), is_right, "{profile}");
    }
    let fault = Profile::compile(&profile(&definition(json!({"type": "string"}))).to_string()).err();
    let fault = fault.map(|fault| fault.to_json()).unwrap_or_default();
    assert!(fault.contains("$.tools[0].secrets[1].path"), "{fault}");
}
