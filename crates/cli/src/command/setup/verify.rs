//! Whether what a client was pointed at is there.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// How long the gateway may take to say that it is there.
const PATIENCE: Duration = Duration::from_secs(2);

/// Asks the gateway whether it is there: one request.
pub fn gateway(base: &str) -> Result<(), String> {
    let Some(authority) = base.strip_prefix("http://").map(|rest| rest.split('/').next().unwrap_or_default()) else {
        return Err("only http:// can be checked from here".to_owned());
    };
    let with_port = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:80") };
    let ask = || -> std::io::Result<String> {
        let address = with_port.to_socket_addrs()?.next().ok_or(std::io::ErrorKind::NotFound)?;
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        // In one piece: who answers at once must find all of it.
        let request = format!("GET /foldline/healthz HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut reply = String::new();
        stream.take(4_096).read_to_string(&mut reply)?;
        Ok(reply)
    };
    match ask() {
        Ok(reply) if reply.starts_with("HTTP/1.1 200") && reply.trim_end().ends_with("ok") => Ok(()),
        Ok(_) => Err("something else answers there".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Whether a program is on the path.
pub fn is_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}
