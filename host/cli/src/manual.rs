//! `seamgate completions` and `seamgate man`: completions for shells, and pages of the manual.

use anyhow::{Result, bail};
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::{console::print, status::Status};

#[derive(clap::Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

/// Prints the completions of a command for a shell.
pub(crate) fn completions(arguments: &Completions, mut command: Command) -> Result<Status> {
    let mut script = Vec::new();
    let name = command.get_name().to_owned();
    clap_complete::generate(arguments.shell, &mut command, name, &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Status::Accepted)
}

#[derive(clap::Args)]
pub(crate) struct Manual {
    /// The command that the page is about [default: all of them, in short]
    command: Option<String>,
}

/// Prints a page of the manual, for `man`.
pub(crate) fn man(arguments: &Manual, mut command: Command) -> Result<Status> {
    command.build();
    let page = match &arguments.command {
        None => Man::new(command),
        Some(name) => match command.find_subcommand(name) {
            Some(found) => Man::new(found.clone()),
            None => {
                let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
                bail!("there is no command {name:?}; known commands: {}", known.join(", "))
            }
        },
    };
    let mut text = Vec::new();
    page.render(&mut text)?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(Status::Accepted)
}
