//! Determines the principal for whom a command works.

use anyhow::{Context, Result};

/// Variables that name the user, in order of precedence. Windows sets the last one.
const VARIABLES: [&str; 3] = ["USER", "LOGNAME", "USERNAME"];

/// Returns the given name, or the user's name from the environment. If the environment names nobody, as in many
/// containers, services and jobs, uses the accounts of this machine.
///
/// # Errors
///
/// There is no name, or the given name is empty.
pub(crate) fn principal(given: Option<&str>) -> Result<String> {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let user = || VARIABLES.into_iter().find_map(variable).or_else(account);
    let name = given.map(str::to_owned).or_else(user).filter(|name| !name.is_empty());
    name.context("neither USER nor an account of this machine says who you are: name yourself with --as NAME")
}

/// Returns the user of this process according to `/etc/passwd`. It does not find accounts of a directory service: the C
/// library would load a shared library for them, and a static program cannot rely on one.
#[cfg(unix)]
fn account() -> Option<String> {
    use std::{fs::File, io::Read, path::Path};

    /// The most bytes of the file that are read.
    const MAX_ACCOUNTS: u64 = 1 << 20;

    let mut accounts = String::new();
    File::open(Path::new("/etc/passwd")).ok()?.take(MAX_ACCOUNTS).read_to_string(&mut accounts).ok()?;
    name_of(rustix::process::getuid().as_raw(), &accounts).map(str::to_owned)
}

#[cfg(not(unix))]
fn account() -> Option<String> {
    None
}

/// Returns the name of a user in a file of accounts (`passwd(5)`): the first entry whose third field is the user's
/// number.
#[cfg(unix)]
fn name_of(user: u32, accounts: &str) -> Option<&str> {
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        (fields.nth(1)?.parse() == Ok(user)).then_some(name)
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::name_of;

    #[test]
    fn the_account_with_the_number_of_the_user_names_them() {
        let accounts = "# users\n\nroot:x:0:0:root:/root:/bin/sh\nbroken:x\n:x:7:7::/:\nanna:x:1000:1000::/home/anna:\nb:x:1000:1::/:\n";
        let names = [0, 1000, 7, 1].map(|user| name_of(user, accounts));
        assert_eq!(names, [Some("root"), Some("anna"), None, None]);
    }
}
