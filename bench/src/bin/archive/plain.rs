//! The plain file server: it writes the body of each request to a file, syncs it and answers.
//! No multipart, no hash, no checks; one thread for each connection.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use bench::processes::free_address;

use crate::server::{Guard, once_it_answers};
use crate::{Outcome, wire};

/// The argument that turns this program into the server.
pub(crate) const FLAG: &str = "--plain-server";
const BUFFER: usize = 128 * 1024;

/// Starts this program once more, as the server.
pub(crate) fn start(folder: &Path) -> Outcome<(SocketAddr, Guard)> {
    let address = free_address()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(FLAG).arg(address.port().to_string()).arg(folder).stdin(Stdio::null());
    let mut child = Guard(command.spawn()?);
    once_it_answers(&mut child, address)?;
    Ok((address, child))
}

/// Serves until the process is ended.
pub(crate) fn serve(mut args: impl Iterator<Item = String>) -> Outcome<()> {
    let port: u16 = args.next().ok_or("no port")?.parse()?;
    let folder = PathBuf::from(args.next().ok_or("no folder")?);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    for (number, stream) in listener.incoming().enumerate() {
        let (stream, path) = (stream?, folder.join(format!("plain-{number}")));
        // A connection that ends without a request only checks whether the server has started.
        thread::spawn(move || drop(store(&stream, &path)));
    }
    Ok(())
}

fn store(mut stream: &TcpStream, path: &Path) -> Outcome<()> {
    let mut reader = BufReader::with_capacity(BUFFER, stream);
    let mut head = String::new();
    while reader.read_line(&mut head)? > 2 {}
    if wire::header(&head, "expect").is_some() {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let length: u64 = wire::header(&head, "content-length").ok_or("no length")?.parse()?;
    let mut file = File::create(path)?;
    let mut left = length;
    let mut buffer = vec![0; BUFFER];
    while left > 0 {
        let count = reader.read(&mut buffer)?;
        if count == 0 {
            return Err("the body was cut off".into());
        }
        file.write_all(buffer.get(..count).unwrap_or_default())?;
        left = left.saturating_sub(count as u64);
    }
    file.sync_all()?;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")?;
    Ok(())
}
