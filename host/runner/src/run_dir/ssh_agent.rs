//! A client of the SSH agent of this session, for Ed25519 only
//! (<https://datatracker.ietf.org/doc/html/draft-ietf-sshm-ssh-agent>).

use std::io;

#[cfg(unix)]
use super::ssh_wire::{invalid, number, push_string, string};

/// The longest answer of an agent, in bytes. OpenSSH has the same limit.
#[cfg(unix)]
const MAX_ANSWER: u32 = 256 * 1024;

#[cfg(unix)]
const REQUEST_IDENTITIES: u8 = 11;
#[cfg(unix)]
const IDENTITIES_ANSWER: u8 = 12;
#[cfg(unix)]
const SIGN_REQUEST: u8 = 13;
#[cfg(unix)]
const SIGN_RESPONSE: u8 = 14;

/// Returns the public keys that the agent holds, in the wire format of SSH.
///
/// # Errors
///
/// There is no agent, or its answer is invalid.
#[cfg(unix)]
pub(super) fn keys() -> io::Result<Vec<Vec<u8>>> {
    let answer = ask(&[REQUEST_IDENTITIES], IDENTITIES_ANSWER, std::time::Duration::from_secs(10))?;
    let mut rest = &answer[..];
    let count = number(&mut rest)?;
    let mut keys = Vec::new();
    for _ in 0..count {
        keys.push(string(&mut rest)?.to_vec());
        // The comment.
        string(&mut rest)?;
    }
    Ok(keys)
}

/// Signs data with a key that the agent holds, and returns the 64 bytes of the signature. The agent may ask the person
/// first.
///
/// # Errors
///
/// There is no agent, it refuses to sign, or its answer is invalid.
#[cfg(unix)]
pub(super) fn sign(key: &[u8], data: &[u8]) -> io::Result<Vec<u8>> {
    let mut request = vec![SIGN_REQUEST];
    push_string(&mut request, key)?;
    push_string(&mut request, data)?;
    // No flags.
    request.extend([0; 4]);
    let answer = ask(&request, SIGN_RESPONSE, std::time::Duration::from_secs(120))?;
    let mut signature = string(&mut &answer[..])?;
    match (string(&mut signature)?, string(&mut signature)?) {
        (b"ssh-ed25519", bytes) if bytes.len() == 64 => Ok(bytes.to_vec()),
        _ => Err(invalid()),
    }
}

/// Sends one request, and returns the body of the answer.
#[cfg(unix)]
fn ask(request: &[u8], expected: u8, timeout: std::time::Duration) -> io::Result<Vec<u8>> {
    use std::{
        io::{Read, Write},
        os::unix::net::UnixStream,
    };
    let socket = std::env::var_os("SSH_AUTH_SOCK").filter(|path| !path.is_empty());
    let socket = socket.ok_or_else(|| io::Error::other("SSH_AUTH_SOCK is not set"))?;
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(timeout))?;
    stream.set_write_timeout(Some(timeout))?;
    stream.write_all(&u32::try_from(request.len()).map_err(io::Error::other)?.to_be_bytes())?;
    stream.write_all(request)?;
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if !(1..=MAX_ANSWER).contains(&length) {
        return Err(invalid());
    }
    let mut answer = Vec::new();
    stream.take(u64::from(length)).read_to_end(&mut answer)?;
    if answer.len() != length as usize {
        return Err(invalid());
    }
    match answer.split_first() {
        Some((&kind, body)) if kind == expected => Ok(body.to_vec()),
        _ => Err(io::Error::other("it refused")),
    }
}

#[cfg(not(unix))]
pub(super) fn keys() -> io::Result<Vec<Vec<u8>>> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
pub(super) fn sign(_: &[u8], _: &[u8]) -> io::Result<Vec<u8>> {
    Err(io::ErrorKind::Unsupported.into())
}
