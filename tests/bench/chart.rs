//! The chart: two horizontal bar charts, one below the other.

use std::fmt::Write;

use crate::{
    figures::{EngineFigures, Figures},
    machine::Machine,
    table::number,
};

const WIDTH: f64 = 860.0;
/// The position where names end and bars begin.
const LEFT: f64 = 220.0;
/// The room for the figure after the longest bar.
const RIGHT: f64 = 90.0;
const BAR: f64 = 18.0;
const STEP: f64 = 28.0;
const HEAD: f64 = 76.0;
/// The distance from the heading of a bar chart to its first bar.
const ABOVE: f64 = 22.0;
/// The distance from the last bar of a bar chart to the next chart, including the axis with its figures.
const BELOW: f64 = 64.0;

const STYLE: &str = "\
text { font-family: system-ui, 'DejaVu Sans', sans-serif; font-size: 13px; fill: #1f2328 }
.title { font-size: 17px; font-weight: 600 }
.heading { font-weight: 600 }
.quiet { fill: #59636e; font-size: 12px }
.grid { stroke: #d1d9e0; stroke-width: 1 }
.native { stroke: #59636e; stroke-width: 1; stroke-dasharray: 4 3 }
.bar { fill: #8c959f }
.own { fill: #0969da }
.back { fill: #ffffff }
.figure { stroke: #ffffff; stroke-width: 4; paint-order: stroke }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .quiet { fill: #9198a1 }
  .grid { stroke: #3d444d }
  .native { stroke: #9198a1 }
  .bar { fill: #656c76 }
  .own { fill: #4493f8 }
  .back { fill: #0d1117 }
  .figure { stroke: #0d1117 }
}
";

pub(crate) fn svg(figures: &Figures, machine: &Machine) -> String {
    let mut body = String::new();
    let mut top = HEAD;
    let ratios = bars(figures, |engine| engine.ratios.all);
    let firsts = bars(figures, |engine| engine.first_millis);
    // Writing to a string does not fail.
    let _ = picture(
        &mut body,
        &mut top,
        "Bytes to verdict, beside native Rust",
        "times native, geometric mean over documents, logarithmic",
        "×",
        &ratios,
    );
    let _ = picture(&mut body, &mut top, "Process start to first verdict", "milliseconds, logarithmic", "ms", &firsts);
    let height = top - BELOW + 50.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\" aria-labelledby=\"title\">\n\
         <style>\n{STYLE}</style>\n\
         <rect class=\"back\" width=\"100%\" height=\"100%\"/>\n\
         <text id=\"title\" class=\"title\" x=\"16\" y=\"28\">What seamgate costs, next to validating in one&#8217;s own \
         process</text>\n\
         <text class=\"quiet\" x=\"16\" y=\"48\">{}, {}. Less is better.</text>\n{body}</svg>\n",
        machine.date,
        escaped(&machine.processors),
    )
}

/// Returns the engines that have a figure, the smallest figure first.
fn bars(figures: &Figures, figure: impl Fn(&EngineFigures) -> Option<f64>) -> Vec<(&'static str, f64)> {
    let mut bars: Vec<_> = figures.engines.iter().filter_map(|engine| Some((engine.name, figure(engine)?))).collect();
    bars.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    bars
}

fn picture(
    out: &mut String,
    top: &mut f64,
    heading: &str,
    axis: &str,
    unit: &str,
    bars: &[(&str, f64)],
) -> std::fmt::Result {
    let (Some((_, least)), Some((_, most))) = (bars.first(), bars.last()) else {
        return Ok(());
    };
    // The axis begins at a round figure below the smallest one, because a bar on a logarithmic axis has no natural
    // start.
    let ticks = ticks(*least, *most);
    let (from, to) = (ticks.first().copied().unwrap_or(1.0), most.max(ticks.last().copied().unwrap_or(1.0)));
    let x = |value: f64| LEFT + (value / from).ln() / (to / from).ln() * (WIDTH - LEFT - RIGHT);
    writeln!(out, "<text class=\"heading\" x=\"16\" y=\"{}\">{heading}</text>", *top + 4.0)?;
    let first = *top + ABOVE;
    let bottom = first + STEP * bars.len() as f64;
    for tick in ticks {
        let class = if unit == "×" && tick == 1.0 { "native" } else { "grid" };
        let x = x(tick);
        writeln!(out, "<line class=\"{class}\" x1=\"{x:.1}\" y1=\"{first}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>")?;
        let y = bottom + 16.0;
        writeln!(out, "<text class=\"quiet\" x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{tick}</text>")?;
    }
    for (index, (name, value)) in bars.iter().enumerate() {
        let y = first + STEP * index as f64 + (STEP - BAR) / 2.0;
        let middle = y + BAR / 2.0 + 4.5;
        let class = if name.starts_with("seamgate") { "own" } else { "bar" };
        let end = x(*value);
        let width = (end - LEFT).max(2.0);
        writeln!(out, "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{}</text>", LEFT - 10.0, escaped(name))?;
        writeln!(
            out,
            "<rect class=\"{class}\" x=\"{LEFT}\" y=\"{y}\" width=\"{width:.1}\" height=\"{BAR}\" rx=\"2\"/>"
        )?;
        writeln!(out, "<text class=\"figure\" x=\"{:.1}\" y=\"{middle}\">{} {unit}</text>", end + 7.0, number(*value))?;
    }
    let middle = (LEFT + WIDTH - RIGHT) / 2.0;
    writeln!(out, "<text class=\"quiet\" x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{axis}</text>", bottom + 34.0)?;
    *top = bottom + BELOW;
    Ok(())
}

/// Returns 1, 2 and 5 times each power of ten, from the last value below `least` to `most`. For a wide range, returns
/// only the powers of ten.
fn ticks(least: f64, most: f64) -> Vec<f64> {
    let many = most / least > 100.0;
    let steps: &[f64] = if many { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let all: Vec<f64> = (-6..7).flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power))).collect();
    let below = all.iter().rposition(|tick| *tick < least * 0.9).unwrap_or(0);
    all[below..].iter().copied().filter(|tick| *tick <= most * 1.0001).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
