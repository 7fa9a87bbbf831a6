//! From the listening socket to connections that may speak: places, TLS, time limits.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use rustls::ServerConfig;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::{
    connection::{Connection, Duplex},
    places::{Place, Places, neighbourhood},
    reread::Reread,
};
use crate::{
    access::{
        Identity, certificate_identity,
        rates::{Rate, Rates},
    },
    metrics::{Counted, OpenConnection},
};

/// Connections at a time: every worker that the engine takes, and people.
pub const MAX_CONNECTIONS: usize = 25_000;
/// One address may have a share of them: one in this many. Whole farms come from behind one address.
const SHARE_OF_ONE: usize = 4;
/// Connections that have not brought a request yet, in all and from one address.
const MAX_NEWCOMERS: usize = 1024;
const MAX_NEWCOMERS_OF_ONE: usize = 256;
/// How long a TLS handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// What the log says of one address that is turned away.
const COMPLAINTS: Rate = Rate::new(1, 10);
/// When the system has no room for a connection, others get time to end.
const NO_ROOM_WAIT: Duration = Duration::from_millis(100);

/// What is spoken on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speech {
    /// By workers and users.
    Http2,
    /// By browsers.
    Http1,
}

/// What listens.
pub struct Listening {
    places: Arc<Places<IpAddr>>,
    newcomers: Arc<Places<IpAddr>>,
    tls: Option<Arc<Reread<Arc<ServerConfig>>>>,
    speech: Speech,
    complaints: Rates<IpAddr>,
    counted: Arc<Counted>,
}

/// Accepts until `stop`. At most `most_connections` at a time.
pub fn listen(
    listener: TcpListener,
    tls: Option<Arc<Reread<Arc<ServerConfig>>>>,
    (speech, most_connections): (Speech, usize),
    counted: Arc<Counted>,
    stop: CancellationToken,
) -> mpsc::Receiver<Connection> {
    let most = most_connections.min(MAX_CONNECTIONS);
    let listening = Arc::new(Listening {
        places: Places::new(most, (most / SHARE_OF_ONE).max(1)),
        newcomers: Places::new(MAX_NEWCOMERS, MAX_NEWCOMERS_OF_ONE),
        tls,
        speech,
        complaints: Rates::new(COMPLAINTS),
        counted,
    });
    let (ready, connections) = mpsc::channel(1);
    tokio::spawn(async move {
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = stop.cancelled() => return,
            };
            match accepted {
                Ok((stream, address)) => listening.accepted(stream, address, &ready),
                Err(error) if is_no_room(&error) => {
                    tracing::warn!("no room for a connection: {error}");
                    sleep(NO_ROOM_WAIT).await;
                }
                // It was gone before it was taken.
                Err(error) => tracing::debug!("a connection failed: {error}"),
            }
        }
    });
    connections
}

/// Whether the process, or the machine, has too many open files or too little memory.
fn is_no_room(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let full = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|code| full.contains(&code))
}

impl Listening {
    fn accepted(self: &Arc<Self>, stream: TcpStream, address: SocketAddr, ready: &mpsc::Sender<Connection>) {
        let ip = neighbourhood(address.ip());
        let (Some(place), Some(newcomer)) = (self.places.take(ip), self.newcomers.take(ip)) else {
            return self.complain(address, "too many connections at a time");
        };
        let (this, ready) = (Arc::clone(self), ready.clone());
        tokio::spawn(async move {
            match timeout(HANDSHAKE_TIMEOUT, this.shake_hands(stream, address, place, newcomer)).await {
                Ok(Ok(connection)) => drop(ready.send(connection).await),
                Ok(Err(error)) => this.complain(address, &error.to_string()),
                Err(_) => this.complain(address, "no TLS handshake in time"),
            }
        });
    }

    async fn shake_hands(
        &self,
        stream: TcpStream,
        address: SocketAddr,
        place: Place<IpAddr>,
        newcomer: Place<IpAddr>,
    ) -> io::Result<Connection> {
        // Without it small messages wait for one another.
        stream.set_nodelay(true)?;
        let (io, certificate): (Box<dyn Duplex>, _) = match &self.tls {
            None => (Box::new(stream), None),
            Some(tls) => {
                if speaks_plainly(&stream).await? {
                    return Err(say_that_this_is_tls(stream, self.speech).await);
                }
                let stream = TlsAcceptor::from(tls.get().as_ref().clone()).accept(stream).await?;
                let certificate = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
                let nobody = || Err::<Identity, _>("no certificate was shown".to_owned());
                let identity = certificate.map_or_else(nobody, certificate_identity);
                (Box::new(stream), Some(identity))
            }
        };
        let counted = OpenConnection::of(Arc::clone(&self.counted));
        Ok(Connection::remote(io, address, certificate, (place, newcomer, counted)))
    }

    /// The log must not be a way to fill the disk.
    fn complain(&self, address: SocketAddr, why: &str) {
        self.counted.connections_refused.inc();
        if self.complaints.take(neighbourhood(address.ip())) {
            tracing::warn!("{address} was turned away: {why}");
        }
    }
}

/// Whether the other end begins with HTTP itself: `PRI * HTTP/2.0`, or the name of a method. TLS begins with a byte of 22.
async fn speaks_plainly(stream: &TcpStream) -> io::Result<bool> {
    let mut first = [0];
    Ok(stream.peek(&mut first).await? == 1 && first[0].is_ascii_uppercase())
}

/// Bytes of a client that are read before it is left: answers to a socket with unread bytes are lost.
const LAST_BYTES: usize = 64 << 10;
const LAST_WORDS: &[u8] = b"this port speaks TLS: use https://";
/// A client that says nothing more for so long has asked what it came to ask.
const ASKED: Duration = Duration::from_millis(200);
const LAST_TIMEOUT: Duration = Duration::from_secs(1);

/// What tells a client that came without TLS, in its own protocol: of HTTP/2 settings, and GOAWAY for its lack of security.
fn last_words(speech: Speech) -> Vec<u8> {
    let len = LAST_WORDS.len();
    let mut words = match speech {
        Speech::Http1 => format!(
            "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n"
        )
        .into_bytes(),
        Speech::Http2 => {
            let mut frames = vec![0, 0, 0, 4, 0, 0, 0, 0, 0];
            frames.extend([0, 0, 8 + u8::try_from(len).unwrap_or(0), 7, 0, 0, 0, 0, 0]);
            frames.extend([0, 0, 0, 0, 0, 0, 0, 0xc]);
            frames
        }
    };
    words.extend(LAST_WORDS);
    words
}

/// Tells a client that came without TLS. It takes that for the answer to its request only once it has sent that.
async fn say_that_this_is_tls(mut stream: TcpStream, speech: Speech) -> io::Error {
    let words = last_words(speech);
    let mut left = LAST_BYTES;
    drop(
        timeout(LAST_TIMEOUT, async {
            while timeout(ASKED, hear(&mut stream, &mut left)).await == Ok(true) {}
        })
        .await,
    );
    let told = async {
        stream.write_all(&words).await?;
        stream.shutdown().await
    };
    drop(timeout(LAST_TIMEOUT, told).await);
    drop(timeout(LAST_TIMEOUT, async { while hear(&mut stream, &mut left).await {} }).await);
    io::Error::other("it speaks without TLS")
}

/// Reads something, to forget it. False at the end, and when it is enough.
async fn hear(stream: &mut TcpStream, left: &mut usize) -> bool {
    let mut bytes = [0; 4096];
    match stream.read(&mut bytes).await {
        Ok(read) if read > 0 && read < *left => *left -= read,
        _ => *left = 0,
    }
    *left > 0
}
