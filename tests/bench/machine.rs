//! The machine and the date of the measurements. Without them, figures are meaningless.

use std::{
    fs,
    process::Command,
    time::{SystemTime, UNIX_EPOCH},
};

pub(crate) struct Machine {
    pub(crate) date: String,
    pub(crate) processors: String,
    /// The load average of the last minute. The machine should be otherwise idle.
    pub(crate) load: String,
    /// The version output of `node` and `python3`.
    pub(crate) runtimes: Vec<String>,
}

impl Machine {
    pub(crate) fn this() -> Self {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        let model = model.map_or("unknown processor", |(_, model)| model.trim());
        let count = std::thread::available_parallelism().map_or(1, |count| count.get());
        let says = |program: &str| {
            let output = Command::new(program).arg("--version").output().ok()?;
            let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            // Node prints its version without its name.
            Some(if version.starts_with('v') { version.replacen('v', "Node ", 1) } else { version })
        };
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Machine {
            date: date(seconds / 86_400),
            processors: format!("{count} × {model}"),
            load: fs::read_to_string("/proc/loadavg")
                .ok()
                .and_then(|load| load.split(' ').next().map(str::to_owned))
                .unwrap_or_else(|| "unknown".to_owned()),
            runtimes: ["node", "python3"].into_iter().filter_map(says).collect(),
        }
    }
}

/// Returns the Gregorian date of a day after 1970-01-01.
fn date(days: u64) -> String {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut left = days;
    let mut year = 1970;
    while left >= 365 + u64::from(leap(year)) {
        left -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if left < days {
            break;
        }
        left -= days;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", left + 1)
}
