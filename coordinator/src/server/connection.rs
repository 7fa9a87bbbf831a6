//! A connection, and who is at its other end.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf},
    time::{Sleep, sleep},
};
use tonic::transport::server::Connected;

use super::places::Place;
use crate::{access::Identity, metrics::OpenConnection};

/// How soon a connection must bring a request that is let in.
pub const FIRST_REQUEST: Duration = Duration::from_secs(10);
/// How long a peer may take nothing of what is written to it. One that speaks and does not read would hold its connection for
/// ever: HTTP/2 cannot end it, for that too has to be written.
const UNREAD: Duration = Duration::from_secs(20);

/// Who is at the other end of a connection. Every request on it carries this.
#[derive(Clone, Debug)]
pub struct Peer {
    /// From where; none inside this process.
    pub address: Option<SocketAddr>,
    /// Whom the certificate is for, or why it does not say; none without TLS.
    pub certificate: Option<Result<Identity, String>>,
    /// Held until the first request is let in.
    newcomer: Arc<Mutex<Option<Place<IpAddr>>>>,
}

impl Peer {
    /// Its first request has been let in: from now on it is no stranger.
    pub fn admit(&self) {
        drop(self.newcomer.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    fn is_newcomer(&self) -> bool {
        self.newcomer.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// What connections are made of.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// An open connection, with or without TLS.
pub struct Connection {
    io: Box<dyn Duplex>,
    peer: Peer,
    /// When it is closed, unless a request has been let in by then.
    deadline: Option<Pin<Box<Sleep>>>,
    /// When it is closed, unless the peer reads before. Only where something waits to be written.
    unread: Option<Pin<Box<Sleep>>>,
    _held: Option<(Place<IpAddr>, OpenConnection)>,
}

impl Connection {
    /// From another process.
    pub fn remote(
        io: Box<dyn Duplex>,
        address: SocketAddr,
        certificate: Option<Result<Identity, String>>,
        (place, newcomer, counted): (Place<IpAddr>, Place<IpAddr>, OpenConnection),
    ) -> Self {
        let newcomer = Arc::new(Mutex::new(Some(newcomer)));
        let peer = Peer { address: Some(address), certificate, newcomer };
        Self {
            io,
            peer,
            deadline: Some(Box::pin(sleep(FIRST_REQUEST))),
            unread: None,
            _held: Some((place, counted)),
        }
    }

    /// Inside this process.
    pub fn memory(pipe: DuplexStream) -> Self {
        let peer = Peer { address: None, certificate: None, newcomer: Arc::default() };
        Self { io: Box::new(pipe), peer, deadline: None, unread: None, _held: None }
    }

    /// Who is at its other end.
    pub fn peer(&self) -> Peer {
        self.peer.clone()
    }

    /// Whether a stranger has had its time. Asked by whatever the connection does: one that is not read from may be written to.
    fn look_at_the_clock(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        let Some(deadline) = &mut self.deadline else { return Ok(()) };
        if !self.peer.is_newcomer() {
            self.deadline = None;
        } else if deadline.as_mut().poll(cx).is_ready() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }

    /// Writes, within the time that a stranger has and a peer may leave things unread.
    fn poll_writing<T>(
        &mut self,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut (dyn Duplex + 'static)>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        self.look_at_the_clock(cx)?;
        let written = write(Pin::new(&mut *self.io), cx);
        // Inside this process both ends stop together.
        if written.is_ready() || self.peer.address.is_none() {
            self.unread = None;
        } else if self.unread.get_or_insert_with(|| Box::pin(sleep(UNREAD))).as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        written
    }
}

impl Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.look_at_the_clock(cx)?;
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_writing(cx, |io, cx| io.poll_write(cx, buf))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_writing(cx, |io, cx| io.poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_writing(cx, AsyncWrite::poll_flush)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_writing(cx, AsyncWrite::poll_shutdown)
    }
}
