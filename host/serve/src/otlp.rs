//! Converts metrics from the text of `/metrics` to OTLP/JSON, so that pushed and scraped metrics are the same.
//!
//! Names get their OpenTelemetry spelling: `gen_ai_agent_name` becomes `gen_ai.agent.name`, and units and `_total`
//! become separate fields.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Names of OpenTelemetry's conventions for generative AI, in the spellings of Prometheus and of OpenTelemetry.
const NAMES: [(&str, &str); 5] = [
    ("gen_ai_agent_name", "gen_ai.agent.name"),
    ("gen_ai_tool_name", "gen_ai.tool.name"),
    ("gen_ai_token_type", "gen_ai.token.type"),
    ("gen_ai_execute_tool_duration", "gen_ai.execute_tool.duration"),
    ("gen_ai_client_token_usage", "gen_ai.client.token.usage"),
];

/// The protocol's number for cumulative metrics.
const CUMULATIVE: u8 = 2;

/// A metric with its samples.
#[derive(Default)]
struct Family<'t> {
    name: &'t str,
    kind: &'t str,
    help: &'t str,
    unit: &'t str,
    samples: Vec<Sample<'t>>,
}

/// A line: the part of its name after that of the family, its labels without `le`, the bound `le`, and the value.
struct Sample<'t> {
    suffix: &'t str,
    labels: Vec<(&'t str, String)>,
    bound: Option<String>,
    value: &'t str,
}

/// Returns the JSON of an `ExportMetricsServiceRequest`. `instance` distinguishes this server from others. Times are in
/// milliseconds since 1970.
pub(crate) fn request(openmetrics: &str, instance: &str, start: u64, now: u64) -> String {
    let times = [start, now].map(|ms| ms.saturating_mul(1_000_000).to_string());
    let metrics: Vec<Value> = families(openmetrics).iter().filter_map(|family| metric(family, &times)).collect();
    let attributes =
        [("service.name", "seamgate"), ("service.instance.id", instance)].map(|(key, value)| text(key, value));
    json!({"resourceMetrics": [{
        "resource": {"attributes": attributes},
        "scopeMetrics": [{
            "scope": {"name": "seamgate", "version": env!("CARGO_PKG_VERSION")},
            "metrics": metrics,
        }],
    }]})
    .to_string()
}

fn families(openmetrics: &str) -> Vec<Family<'_>> {
    let mut families: Vec<Family> = Vec::new();
    for line in openmetrics.lines() {
        let head = line.strip_prefix("# ").and_then(|head| head.split_once(' '));
        if let Some((what, (name, value))) = head.and_then(|(what, rest)| Some((what, rest.split_once(' ')?))) {
            if families.last().is_none_or(|last| last.name != name) {
                families.push(Family { name, ..Family::default() });
            }
            let Some(family) = families.last_mut() else { continue };
            match what {
                "HELP" => family.help = value,
                "TYPE" => family.kind = value,
                "UNIT" => family.unit = value,
                _ => {}
            }
        } else if let Some(family) = families.last_mut() {
            family.samples.extend(sample(line, family.name));
        }
    }
    families
}

/// Parses a line that `prometheus-client` wrote.
fn sample<'t>(line: &'t str, family: &str) -> Option<Sample<'t>> {
    let rest = line.strip_prefix(family)?;
    let (suffix, mut rest) = rest.split_at(rest.find(['{', ' '])?);
    let (mut labels, mut bound) = (Vec::new(), None);
    if let Some(mut inside) = rest.strip_prefix('{') {
        while let Some((name, after)) = inside.split_once("=\"") {
            let (value, after) = unquoted(after)?;
            match name {
                "le" => bound = Some(value),
                name => labels.push((name, value)),
            }
            inside = after.strip_prefix(',').unwrap_or(after);
        }
        rest = inside.strip_prefix('}')?;
    }
    Some(Sample { suffix, labels, bound, value: rest.trim_start().split(' ').next()? })
}

/// Parses the value of a label up to its closing quote. Returns the rest of the text, too.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match characters.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

fn metric(family: &Family, times: &[String; 2]) -> Option<Value> {
    let [start, now] = times;
    let point = |sample: &Sample| {
        let mut point = json!({"attributes": attributes(&sample.labels), "timeUnixNano": now});
        match sample.value.parse::<i64>() {
            Ok(whole) => point["asInt"] = json!(whole.to_string()),
            Err(_) => point["asDouble"] = json!(sample.value.parse::<f64>().ok()?),
        }
        Some(point)
    };
    let data = match family.kind {
        "counter" => {
            let points = family.samples.iter().filter_map(point).map(|mut point| {
                point["startTimeUnixNano"] = json!(start);
                point
            });
            let points: Vec<Value> = points.collect();
            ("sum", json!({"dataPoints": points, "aggregationTemporality": CUMULATIVE, "isMonotonic": true}))
        }
        "gauge" => ("gauge", json!({"dataPoints": family.samples.iter().filter_map(point).collect::<Vec<_>>()})),
        "histogram" => {
            let points = histograms(family, times);
            ("histogram", json!({"dataPoints": points, "aggregationTemporality": CUMULATIVE}))
        }
        _ => return None,
    };
    // A metric without points has no information.
    if data.1["dataPoints"].as_array().is_some_and(Vec::is_empty) {
        return None;
    }
    let (name, unit) = match family.unit {
        "seconds" => (family.name.strip_suffix("_seconds").unwrap_or(family.name), "s"),
        _ if family.name.contains("token") => (family.name, "{token}"),
        _ => (family.name, "1"),
    };
    let mut metric = json!({"name": spelled(name), "description": family.help, "unit": unit});
    metric[data.0] = data.1;
    Some(metric)
}

/// Returns the points of a histogram. Each bucket includes the previous ones in the text, but not in the protocol.
fn histograms(family: &Family, [start, now]: &[String; 2]) -> Vec<Value> {
    #[derive(Default)]
    struct Histogram {
        bounds: Vec<f64>,
        counts: Vec<u64>,
        sum: Value,
        count: Value,
    }
    let mut all: BTreeMap<&[(&str, String)], Histogram> = BTreeMap::new();
    for sample in &family.samples {
        let Histogram { bounds, counts, sum, count } = all.entry(&sample.labels).or_default();
        match (sample.suffix, sample.bound.as_deref().map(str::parse::<f64>)) {
            ("_sum", _) => *sum = sample.value.parse::<f64>().map_or(Value::Null, Value::from),
            ("_count", _) => *count = json!(sample.value),
            ("_bucket", Some(Ok(bound))) => {
                let before: u64 = counts.iter().sum();
                counts.push(sample.value.parse::<u64>().unwrap_or_default().saturating_sub(before));
                bounds.extend(bound.is_finite().then_some(bound));
            }
            _ => {}
        }
    }
    let points = all.into_iter().map(|(labels, Histogram { bounds, counts, sum, count })| {
        let counts: Vec<String> = counts.iter().map(ToString::to_string).collect();
        json!({
            "attributes": attributes(labels),
            "startTimeUnixNano": start,
            "timeUnixNano": now,
            "count": count,
            "sum": sum,
            "bucketCounts": counts,
            "explicitBounds": bounds,
        })
    });
    points.collect()
}

fn spelled(name: &str) -> &str {
    NAMES.iter().find(|(prometheus, _)| *prometheus == name).map_or(name, |(_, name)| name)
}

fn attributes(labels: &[(&str, String)]) -> Vec<Value> {
    labels.iter().map(|(name, value)| text(spelled(name), value)).collect()
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"# HELP seamgate_decisions Decisions.
# TYPE seamgate_decisions counter
seamgate_decisions_total{gen_ai_agent_name="a\"b\\,}",permit="allow"} 34
# HELP seamgate_approvals_oldest_seconds Age.
# TYPE seamgate_approvals_oldest_seconds gauge
# UNIT seamgate_approvals_oldest_seconds seconds
seamgate_approvals_oldest_seconds{gen_ai_agent_name="a"} 7
# HELP seamgate_journals Journals.
# TYPE seamgate_journals gauge
seamgate_journals 3
# HELP seamgate_results Nothing yet.
# TYPE seamgate_results counter
# HELP gen_ai_execute_tool_duration_seconds Time.
# TYPE gen_ai_execute_tool_duration_seconds histogram
# UNIT gen_ai_execute_tool_duration_seconds seconds
gen_ai_execute_tool_duration_seconds_sum{gen_ai_agent_name="a"} 0.5
gen_ai_execute_tool_duration_seconds_count{gen_ai_agent_name="a"} 6
gen_ai_execute_tool_duration_seconds_bucket{le="0.01",gen_ai_agent_name="a"} 1
gen_ai_execute_tool_duration_seconds_bucket{le="0.02",gen_ai_agent_name="a"} 4
gen_ai_execute_tool_duration_seconds_bucket{le="+Inf",gen_ai_agent_name="a"} 6
# EOF
"#;

    #[test]
    fn each_kind_of_metric_is_pushed_as_it_is_scraped() {
        let request: Value = serde_json::from_str(&request(TEXT, "i", 1, 2)).expect("JSON");
        let metrics = request["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].clone();
        let names: Vec<_> = metrics.as_array().expect("metrics").iter().map(|metric| metric["name"].clone()).collect();
        assert_eq!(
            names,
            ["seamgate_decisions", "seamgate_approvals_oldest", "seamgate_journals", "gen_ai.execute_tool.duration"]
        );
        let point = &metrics[0]["sum"]["dataPoints"][0];
        assert_eq!(point["attributes"][0], text("gen_ai.agent.name", "a\"b\\,}"));
        assert_eq!((&point["asInt"], &point["startTimeUnixNano"]), (&json!("34"), &json!("1000000")));
        assert_eq!((&metrics[1]["unit"], &metrics[1]["gauge"]["dataPoints"][0]["asInt"]), (&json!("s"), &json!("7")));
        let histogram = &metrics[3]["histogram"]["dataPoints"][0];
        assert_eq!(histogram["bucketCounts"], json!(["1", "3", "2"]));
        assert_eq!(histogram["explicitBounds"], json!([0.01, 0.02]));
        assert_eq!((&histogram["count"], &histogram["sum"]), (&json!("6"), &json!(0.5)));
    }

    #[test]
    fn broken_lines_never_panic() {
        for end in (0..TEXT.len()).filter(|end| TEXT.is_char_boundary(*end)) {
            let _ = request(&TEXT[..end], "i", 1, 2);
            let _ = request(&TEXT[end..], "i", 1, 2);
        }
    }
}
