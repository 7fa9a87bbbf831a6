//! Plain HTTP on loopback, as far as tests need it.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use super::PATIENCE;

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    /// A header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// Asks `address` for `path`. Nothing when nobody answers.
pub fn get(address: &str, path: &str, headers: &[(&str, &str)]) -> Option<Answer> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    // HTTP/1.0: the answer is in one piece, and ends with the connection.
    let lines = [format!("GET {path} HTTP/1.0"), format!("Host: {address}")].into_iter();
    let lines = lines.chain(headers.iter().map(|(name, value)| format!("{name}: {value}")));
    let request = lines.collect::<Vec<_>>().join("\r\n") + "\r\n\r\n";
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, head: head.into(), body: body.into() })
}

/// Text as it stands in a query.
pub fn encoded(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(byte);
    text.bytes().map(|b| if plain(&b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
