//! Starts, watches and terminates the process group of a program.

#[cfg(not(unix))]
pub(super) use self::os::has_exited;
pub(super) use self::os::{kill, prepare, terminate, watch};

#[cfg(unix)]
mod os {
    use std::{
        io,
        os::unix::process::CommandExt,
        process::{Child, Command},
    };

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, setsid, waitid};

    use super::super::spawn;

    /// Makes the child the leader of a new session. On Linux, also ensures that the child dies with this process.
    pub(in crate::process) fn prepare(command: &mut Command) {
        #[cfg(target_os = "linux")]
        let parent = rustix::process::getpid();
        let lead = move || {
            setsid()?;
            #[cfg(target_os = "linux")]
            {
                rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
                // If this process died before that call, no signal will come, so the child terminates itself. Returning
                // an error would not help, because nobody is left to receive it.
                if rustix::process::getppid() != Some(parent) {
                    kill_process(rustix::process::getpid(), Signal::KILL)?;
                }
            }
            Ok(())
        };
        // SAFETY: Another thread may have held any lock at the fork, so until the exec the child may only do what is
        // async-signal-safe. `lead` makes a few system calls and compares two numbers. It takes no lock, allocates
        // nothing (an `io::Error` of an error number is a plain value), cannot panic, and uses no memory but its own
        // copy of `parent`.
        unsafe { command.pre_exec(lead) };
    }

    /// Waits for the exit on a separate thread, then calls `tell`. Does not reap the child, so that the number of the
    /// group stays reserved.
    pub(in crate::process) fn watch(
        child: &Child,
        tell: impl FnOnce(io::Result<()>) + Send + 'static,
    ) -> io::Result<()> {
        let pid = Pid::from_child(child);
        spawn(move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let result = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options));
            tell(result.map(drop).map_err(io::Error::from));
        })
    }

    /// Asks the group to terminate. Ignores errors, because `kill` follows.
    pub(in crate::process) fn terminate(child: &mut Child) {
        let _ = kill_process_group(Pid::from_child(child), Signal::TERM);
    }

    /// Kills the group. The child must not have been reaped. Ignores errors, because the caller waits for the exit.
    pub(in crate::process) fn kill(child: &mut Child) {
        let pid = Pid::from_child(child);
        let _ = kill_process_group(pid, Signal::KILL);
        // The child may have moved to another group.
        let _ = kill_process(pid, Signal::KILL);
    }
}

#[cfg(not(unix))]
mod os {
    use std::{
        io,
        process::{Child, Command},
    };

    pub(in crate::process) fn prepare(_: &mut Command) {}

    /// Does nothing, because a run checks for the exit at each tick, and a service whenever it is asked.
    pub(in crate::process) fn watch(_: &Child, _: impl FnOnce(io::Result<()>) + Send + 'static) -> io::Result<()> {
        Ok(())
    }

    pub(in crate::process) fn has_exited(child: &mut Child) -> bool {
        !matches!(child.try_wait(), Ok(None))
    }

    pub(in crate::process) fn terminate(_: &mut Child) {}

    /// Kills the child. Ignores errors, because the caller waits for the exit.
    pub(in crate::process) fn kill(child: &mut Child) {
        let _ = child.kill();
    }
}
