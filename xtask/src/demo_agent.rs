//! The demo of a whole agent: `schemas/examples/sre`, with a real service that fails and is restarted.

use std::{
    fs,
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result};

use crate::{
    demo::{seamgate, show, step},
    run::{command, root, run, say},
};

const EXAMPLE: &str = "schemas/examples/sre";
const FOLDER: &str = "target/demo/sre";

pub(crate) fn demo() -> Result<()> {
    let has_python =
        Command::new("python3").arg("--version").stdout(Stdio::null()).status().is_ok_and(|it| it.success());
    if !has_python {
        say("skipping the agent that looks for the cause of an incident: python3 is missing");
        return Ok(());
    }
    step(
        "An agent that may not exceed its authority. A service runs out of connections, and one line of its log demands a restart. The model asks for a tool that it does not see, forges an approval, and claims what it did not see. The run waits for a person. Exit 6.",
    );
    // Removes what an earlier demo left there.
    match fs::remove_dir_all(FOLDER) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error).context(FOLDER),
        _ => fs::create_dir_all(FOLDER)?,
    }
    let home = root().join(FOLDER);
    let python = |program: &str| {
        let mut python = command("python3");
        python.arg(format!("{EXAMPLE}/{program}")).arg(&home).env("SRE_HOME", &home);
        python
    };
    let _service = Service(python("service.py").spawn().context("cannot start the service")?);
    run(&mut python("load.py"))?;
    let of = |name: &str| format!("{EXAMPLE}/{name}");
    let journal = format!("{FOLDER}/run");
    let task = fs::read_to_string(of("task.json"))?;
    let (profile, child, servers) = (of("sre.profile.json"), of("log-reader.profile.json"), of("sre.servers.json"));
    let (services, dependencies) = (of("services.txt"), of("dependencies.json"));
    let [services, dependencies] = [format!("services={services}"), format!("dependencies={dependencies}")];
    let mut agent = seamgate([
        "agent",
        "-p",
        &profile,
        "-p",
        &child,
        "--servers",
        &servers,
        "--mode",
        "operate",
        "--as",
        "joe",
        "--list",
        &services,
        "--context",
        &dependencies,
        "--task",
        task.trim(),
        "--journal",
        &journal,
        "--",
        "python3",
        "-IS",
        &of("model.py"),
    ]);
    agent.env("SRE_HOME", &home);
    show(agent, 6)?;

    step("A person looks at what would be sent, and approves that, and nothing else.");
    show(seamgate(["approve", &journal, "--as", "anna", "--yes"]), 0)?;

    step("The run goes on: the service is restarted, once, and the answer cites what was seen.");
    let mut resumed = seamgate(["agent", "--resume", &journal]);
    resumed.env("SRE_HOME", &home);
    show(resumed, 0)?;
    println!("\nRestarts that took place:\n{}", fs::read_to_string(home.join("ledger.ndjson"))?.trim_end());

    step("What happened, step by step, as a page to read.");
    let page = format!("{FOLDER}/trace.html");
    show(seamgate(["trace", &journal, "--html", &page]), 0)?;
    println!("\nOpen {page} in a browser. `seamgate trace {journal}` shows it here.");
    Ok(())
}

/// A service that ends together with the demo.
struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        let pid = self.0.id().to_string();
        // On a signal, it also ends its worker.
        let is_told = Command::new("kill").arg(&pid).status().is_ok_and(|status| status.success());
        if !is_told {
            let _ = self.0.kill();
        }
        let _ = self.0.wait();
    }
}
