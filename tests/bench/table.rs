//! The results as Markdown.

use std::fmt::Write;

use crate::{
    engines::NATIVE,
    figures::{Figures, Headline, PEER_MICROS, Ratios, TWO_PROCESSORS, median},
    machine::Machine,
    measure::{LargeOutput, Measured},
    plan::{ANSWER, CONTRACTS, LARGE_OUTPUT, Plan, RECORDS},
};

pub(crate) fn markdown(
    plan: &Plan,
    measured: &Measured,
    figures: &Figures,
    headlines: &[Headline],
    machine: &Machine,
    skipped: &[String],
) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut out, plan, measured, figures, headlines, machine, skipped);
    out
}

fn write(
    out: &mut String,
    plan: &Plan,
    measured: &Measured,
    figures: &Figures,
    headlines: &[Headline],
    machine: &Machine,
    skipped: &[String],
) -> std::fmt::Result {
    writeln!(out, "# What seamgate costs, beside validation in your own process\n")?;
    writeln!(
        out,
        "`cargo xtask bench` on {}: {}, {}, load before {}. Each figure is the median of three runs, and the other tables are \
         of the run in the middle by the first figure. Read the ratios: times depend on the machine. \"Native\" is `serde_json` and `jsonschema` in the caller's process. {} schemas of SchemaStore, {} \
         of their documents.\n",
        machine.date,
        machine.processors,
        machine.runtimes.join(", "),
        machine.load,
        plan.stored_sets,
        plan.stored().count(),
    )?;
    writeln!(out, "![Chart](chart.svg)\n")?;

    writeln!(out, "| figure | median | aim | at least |")?;
    writeln!(out, "| --- | --- | --- | --- |")?;
    for headline in headlines {
        let [aim, least] = headline.wanted();
        let missed = if headline.misses_aim() { ", missed" } else { "" };
        writeln!(out, "| {} | {} | {aim}{missed} | {least} |", headline.what, headline.value())?;
    }
    writeln!(
        out,
        "\nA figure with µs or ns/B is a ratio too: to native's time, in the same run, for the list of {RECORDS} under \
         [Growth](#growth), or for a byte of it. The times beside what is wanted are those of a machine on which native takes \
         {PEER_MICROS} µs for it.\n\nThe time of Blaze is a sum of two (see [Settings](#settings)). Without it, a warm verdict is the \
         fastest on {} valid documents.",
        figures.ahead_of_whole,
    )?;

    writeln!(out, "\n## Engines\n")?;
    writeln!(
        out,
        "Ratios: the time from bytes to verdict, divided by native's. They are geometric means over the documents with the \
         same verdict as native. First verdict: a whole process, from start to exit, for one document and its schema. \
         Peak: the peak memory of a process that compiles all schemas and judges all documents.\n"
    )?;
    writeln!(
        out,
        "| engine | all | under 4 KB | 4 KB and more | valid | invalid | documents | first verdict | peak |"
    )?;
    writeln!(out, "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")?;
    for engine in &figures.engines {
        let Ratios { all, small, large, valid, invalid } = engine.ratios;
        let [all, small, large, valid, invalid] =
            [all, small, large, valid, invalid].map(|ratio| with_unit(ratio, "×"));
        let first = with_unit(engine.first_millis, "ms");
        writeln!(
            out,
            "| {} | {all} | {small} | {large} | {valid} | {invalid} | {} | {first} | {} |",
            engine.name,
            engine.judged,
            with_unit(engine.peak_mb, "MB"),
        )?;
    }
    writeln!(
        out,
        "\nFor documents, each of seamgate's components holds {CONTRACTS} contracts, as many as an application has. For the \
         first verdict it holds one, as the other engines compile one. With all {} in one component, the first verdict \
         takes {} ms.",
        plan.sets.iter().filter(|set| set.refused.is_none()).count(),
        number(measured.with_all_contracts_millis),
    )?;
    for skipped in skipped {
        writeln!(out, "\nSkipped: {skipped}.")?;
    }

    writeln!(out, "\n## Settings\n")?;
    writeln!(
        out,
        "Each engine answers \"is it valid?\" in its cheapest way, with compiled schemas; one more tells all errors. `format` is an annotation for \
         all, so that all answer the same question. seamgate does more: it finds the document in the output, refuses \
         what breaks strict code, and reports every violation with its place.\n"
    )?;
    writeln!(out, "| engine | version | settings |\n| --- | --- | --- |")?;
    for engine in &figures.engines {
        writeln!(out, "| {} | {} | {} |", engine.name, engine.version, engine.settings)?;
    }

    growth(out, figures)?;
    threads(out, measured)?;
    large_output(out, measured)?;
    fence(out, measured)?;
    sets(out, plan, measured, figures)?;
    differences(out, figures)
}

fn growth(out: &mut String, figures: &Figures) -> std::fmt::Result {
    writeln!(out, "\n## Growth\n")?;
    writeln!(out, "One contract for a list of records. Nanoseconds for each byte.\n")?;
    let asked: Vec<usize> = (0..figures.engines.len())
        .filter(|engine| figures.growth.iter().all(|(_, _, row)| row[*engine].is_some()))
        .collect();
    let names: Vec<_> = asked.iter().map(|engine| figures.engines[*engine].name).collect();
    writeln!(out, "| document | bytes | {} |", names.join(" | "))?;
    writeln!(out, "| --- | --- |{}", " --- |".repeat(names.len()))?;
    for (name, bytes, row) in &figures.growth {
        let cells: Vec<_> = asked.iter().map(|engine| row[*engine].map_or("–".to_owned(), number)).collect();
        writeln!(out, "| {name} | {bytes} | {} |", cells.join(" | "))?;
    }
    Ok(())
}

fn threads(out: &mut String, measured: &Measured) -> std::fmt::Result {
    writeln!(out, "\n## Threads\n")?;
    writeln!(
        out,
        "Documents under 4 KB in turn, verdicts a second. Before, a warm instance of the gate has judged all those under 64 KB.\n"
    )?;
    writeln!(out, "| | one thread | two threads | two / one |\n| --- | --- | --- | --- |")?;
    let rows =
        ["seamgate, one gate with fresh instances", NATIVE].into_iter().zip(measured.threads).zip(measured.gains);
    for ((name, [one, two]), gain) in rows {
        writeln!(out, "| {name} | {} | {} | {} × |", number(one), number(two), number(gain))?;
    }
    let [_, native] = measured.gains;
    if native < TWO_PROCESSORS {
        writeln!(out, "\nNative gains so little that the machine was not quiet: this decides nothing.")?;
    }
    Ok(())
}

fn large_output(out: &mut String, measured: &Measured) -> std::fmt::Result {
    let LargeOutput { nanos, page_faults, ratio } = &measured.large_output;
    let [before, after] = nanos.map(|nanos| number(nanos / 1e3));
    writeln!(out, "\n## After a large output\n")?;
    writeln!(
        out,
        "A fresh call for `{{}}` takes {before} µs and has {} page faults. After the same gate has judged an output of \
         {LARGE_OUTPUT}, it takes {after} µs, {} times as long, and has {}.",
        number(page_faults[0]),
        number(*ratio),
        number(page_faults[1]),
    )
}

fn fence(out: &mut String, measured: &Measured) -> std::fmt::Result {
    let [alone, fenced] = measured.fenced.map(|nanos| number(nanos / 1e3));
    writeln!(out, "\n## In a fence\n")?;
    writeln!(
        out,
        "A warm call for the example `{ANSWER}` takes {alone} µs for its JSON alone, and {fenced} µs in a fence of Markdown."
    )
}

fn sets(out: &mut String, plan: &Plan, measured: &Measured, figures: &Figures) -> std::fmt::Result {
    writeln!(out, "\n## Sets\n")?;
    writeln!(out, "Medians over the documents of a set: bytes, and microseconds from bytes to verdict.\n")?;
    let names: Vec<_> = figures.engines.iter().map(|engine| engine.name).collect();
    writeln!(out, "| set | schema | documents | bytes | {} |", names.join(" | "))?;
    writeln!(out, "| --- | --- | --- | --- |{}", " --- |".repeat(names.len()))?;
    for (index, set) in plan.sets.iter().enumerate() {
        let documents: Vec<usize> = plan.stored().filter(|document| plan.documents[*document].set == index).collect();
        if documents.is_empty() {
            continue;
        }
        let bytes = documents.iter().map(|document| plan.documents[*document].bytes as f64).collect();
        write!(out, "| {} | {} | {} | {} |", set.name, set.bytes, documents.len(), median(bytes).unwrap_or_default())?;
        for engine in &measured.engines {
            let micros =
                documents.iter().filter_map(|document| Some(engine.documents[*document].as_ref()?.nanos()? / 1e3));
            write!(out, " {} |", median(micros.collect()).map_or("–".to_owned(), number))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn differences(out: &mut String, figures: &Figures) -> std::fmt::Result {
    writeln!(out, "\n## Verdicts that differ from native's\n")?;
    if figures.differences.is_empty() {
        return writeln!(out, "None.");
    }
    writeln!(out, "| engine | set | documents | what |\n| --- | --- | --- | --- |")?;
    for difference in &figures.differences {
        // An error may contain line breaks and vertical bars, and may be as long as a schema.
        let what: String = difference.what.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
        let cut = if what.chars().count() > 200 { "…" } else { "" };
        let what: String = what.chars().take(200).collect();
        let documents = difference.documents.join(", ");
        writeln!(out, "| {} | {} | {documents} | {what}{cut} |", difference.engine, difference.set)?;
    }
    Ok(())
}

fn with_unit(value: Option<f64>, unit: &str) -> String {
    value.map_or("–".to_owned(), |value| format!("{} {unit}", number(value)))
}

/// Formats a number with two, one or no decimal places, depending on its size, and with commas between thousands.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        0.0..9.995 => format!("{value:.2}"),
        9.995..99.95 => format!("{value:.1}"),
        _ => {
            let digits = format!("{value:.0}");
            let mut out = String::new();
            for (index, digit) in digits.chars().enumerate() {
                if index > 0 && (digits.len() - index).is_multiple_of(3) && !out.ends_with('-') {
                    out.push(',');
                }
                out.push(digit);
            }
            out
        }
    }
}
