//! Plain HTTP on loopback, as far as tests need it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
};

use serde_json::Value;

use super::PATIENCE;

/// Headers, by name.
pub type Headers<'a> = &'a [(&'a str, &'a str)];

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    /// Reads all of one.
    pub fn parse(text: &str) -> Option<Self> {
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Self { status, head: head.into(), body: body.into() })
    }

    /// A header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// Its body, which must be JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

/// A request. In HTTP/1.0: the answer is in one piece, and ends with the connection.
pub fn request(address: &str, (method, path): (&str, &str), headers: Headers, body: Option<&str>) -> String {
    let mut lines = vec![format!("{method} {path} HTTP/1.0")];
    if !headers.iter().any(|(name, _)| *name == "Host") {
        lines.push(format!("Host: {address}"));
    }
    lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
    lines.extend(body.map(|body| format!("Content-Length: {}", body.len())));
    lines.join("\r\n") + "\r\n\r\n" + body.unwrap_or_default()
}

/// Asks `address` for `path`. Nothing when nobody answers.
pub fn get(address: &str, path: &str, headers: Headers) -> Option<Answer> {
    send(address, &request(address, ("GET", path), headers, None))
}

/// Sends JSON to `path`. Nothing when nobody answers.
pub fn post(address: &str, path: &str, headers: Headers, body: &str) -> Option<Answer> {
    let headers = [&[("Content-Type", "application/json")][..], headers].concat();
    send(address, &request(address, ("POST", path), &headers, Some(body)))
}

/// Sends what is given, and reads the answer.
pub fn send(address: &str, request: &str) -> Option<Answer> {
    let mut stream = connect(address)?;
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Answer::parse(&answer)
}

fn connect(address: &str) -> Option<TcpStream> {
    let stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    Some(stream)
}

/// Server-sent events, as they come.
pub struct Events(BufReader<TcpStream>);

impl Events {
    /// Begins to listen; the answer where that is refused.
    pub fn open(address: &str, path: &str, headers: Headers) -> Result<Self, Answer> {
        let mut stream = connect(address).expect("somebody answers");
        stream
            .write_all(request(address, ("GET", path), headers, None).as_bytes())
            .expect("the request is sent");
        let mut reader = BufReader::new(stream);
        let (mut head, mut line) = (String::new(), String::new());
        while line != "\r\n" {
            head.push_str(&line);
            line.clear();
            assert!(reader.read_line(&mut line).expect("a line") > 0, "no answer: {head}");
        }
        let mut answer = Answer::parse(&format!("{head}\r\n")).expect("an answer");
        if answer.status == 200 {
            assert_eq!(answer.header("content-type"), Some("text/event-stream"));
            return Ok(Self(reader));
        }
        reader.read_to_string(&mut answer.body).expect("a body");
        Err(answer)
    }

    /// The next one: its name, and what it carries; none when the stream has ended.
    pub fn next(&mut self) -> Option<(String, Value)> {
        let (mut name, mut data) = (String::new(), None);
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).expect("a line") == 0 {
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some(("event", is)) => is.clone_into(&mut name),
                Some(("data", json)) => data = Some(serde_json::from_str(json).expect("JSON")),
                Some(("retry", _)) => {}
                None if line == "\n" => {
                    if let Some(data) = data.take() {
                        return Some((name, data));
                    }
                }
                _ => panic!("no event stream: {line:?}"),
            }
        }
    }

    /// Waits for an event of this name of which that is true; what it shows.
    pub fn until(&mut self, wanted: &str, is: impl Fn(&Value) -> bool) -> Value {
        let begun = std::time::Instant::now();
        let mut last = Value::Null;
        while begun.elapsed() < PATIENCE {
            let (name, data) = self.next().unwrap_or_else(|| panic!("it ended before {wanted}: {last}"));
            if name == wanted {
                last = data["view"].clone();
                if is(&last) {
                    return last;
                }
            }
        }
        panic!("waited too long for {wanted}: {last}");
    }
}

/// Text as it stands in a query.
pub fn encoded(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(byte);
    text.bytes().map(|b| if plain(&b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

/// Asks over TLS, as a client that trusts this CA and shows no certificate.
pub fn send_encrypted(address: &str, ca: &str, request: &str) -> Answer {
    use std::io::{Read, Write};
    let files = worker::tls::TlsFiles { ca: ca.into(), own: None };
    let mut config = (*files.client().expect("TLS")).clone();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let host = rustls::pki_types::ServerName::try_from("127.0.0.1").expect("a name");
    let mut tls = rustls::ClientConnection::new(std::sync::Arc::new(config), host).expect("a connection");
    let mut tcp = std::net::TcpStream::connect(address).expect("the page");
    let mut stream = rustls::Stream::new(&mut tls, &mut tcp);
    stream.write_all(request.as_bytes()).expect("asked");
    let mut answer = Vec::new();
    // The other end may leave without a word of TLS.
    drop(stream.read_to_end(&mut answer));
    Answer::parse(&String::from_utf8(answer).expect("text")).expect("an answer")
}
