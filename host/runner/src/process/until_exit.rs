//! The output of a program up to its exit.

pub(super) use self::os::{Exits, UntilExit, exit_pair};

#[cfg(unix)]
mod os {
    use std::{
        io::{self, PipeReader, PipeWriter, Read},
        process::ChildStdout,
    };

    use rustix::{
        event::{PollFd, PollFlags, Timespec, poll},
        io::ioctl_fionread,
    };

    /// How long to wait for the exit of a program whose output has ended, so that whoever is notified of the end can
    /// ask how the program exited.
    const EXITS: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

    /// Signals, by being dropped, that a program has exited.
    pub(in crate::process) type Exits = PipeWriter;

    /// Returns a pair: the end of a pipe to drop when a program has exited, and the end on which [`UntilExit`] notices
    /// that.
    pub(in crate::process) fn exit_pair() -> io::Result<(Exits, PipeReader)> {
        io::pipe().map(|(exited, exits)| (exits, exited))
    }

    /// The output of a program. It ends with the program, even if a process that the program left behind holds the pipe
    /// open. The content of the pipe at that time is read, and nothing later.
    pub(in crate::process) struct UntilExit {
        output: ChildStdout,
        exited: PipeReader,
        /// The number of bytes left to read, once the program has exited or its output has ended.
        left: Option<u64>,
    }

    impl UntilExit {
        pub(in crate::process) fn new(output: ChildStdout, exited: PipeReader) -> Self {
            UntilExit { output, exited, left: None }
        }
    }

    impl Read for UntilExit {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            let left = match self.left {
                Some(left) => left,
                None => {
                    let (output, exited) =
                        (PollFd::new(&self.output, PollFlags::IN), PollFd::new(&self.exited, PollFlags::IN));
                    let mut both = [output, exited];
                    poll(&mut both, None)?;
                    if both[1].revents().is_empty() {
                        let length = self.output.read(bytes)?;
                        if length == 0 && !bytes.is_empty() {
                            self.left = Some(0);
                            // Other code checks whether it has exited by then.
                            let _ = poll(&mut [PollFd::new(&self.exited, PollFlags::IN)], Some(&EXITS));
                        }
                        return Ok(length);
                    }
                    *self.left.insert(ioctl_fionread(&self.output)?)
                }
            };
            // This many bytes are available, so reading does not block.
            let length = (&mut self.output).take(left).read(bytes)?;
            self.left = Some(if length == 0 { 0 } else { left.saturating_sub(length as u64) });
            Ok(length)
        }
    }
}

#[cfg(not(unix))]
mod os {
    use std::{
        io::{self, Read},
        process::ChildStdout,
    };

    /// Does nothing, because exits are not signalled on this system.
    pub(in crate::process) struct Exits;

    pub(in crate::process) fn exit_pair() -> io::Result<(Exits, Exits)> {
        Ok((Exits, Exits))
    }

    /// The output of a program, to the end of the pipe.
    pub(in crate::process) struct UntilExit(ChildStdout);

    impl UntilExit {
        pub(in crate::process) fn new(output: ChildStdout, _: Exits) -> Self {
            UntilExit(output)
        }
    }

    impl Read for UntilExit {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            self.0.read(bytes)
        }
    }
}
