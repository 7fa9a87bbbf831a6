//! A connection that can be cut: a relay between two processes that holds back what is sent, as a network does that loses it.

use std::{io, net::SocketAddr};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
    task::JoinHandle,
};

/// A relay. It ends when it is dropped.
#[derive(Debug)]
pub struct Line {
    /// Where to connect to instead of the target.
    pub address: SocketAddr,
    cut: watch::Sender<bool>,
    relay: JoinHandle<()>,
}

/// Bytes on the way.
const CHUNK: usize = 16 << 10;

impl Line {
    /// Listens on `host` for what is meant for `target`.
    ///
    /// # Errors
    ///
    /// When it cannot listen.
    pub async fn to(target: SocketAddr, host: std::net::IpAddr) -> io::Result<Self> {
        let listener = TcpListener::bind((host, 0)).await?;
        let address = listener.local_addr()?;
        let (cut, is_cut) = watch::channel(false);
        let relay = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(relay(stream, target, is_cut.clone()));
            }
        });
        Ok(Self { address, cut, relay })
    }

    /// Cuts it, or joins it again: then what was held back arrives.
    pub fn cut(&self, cut: bool) {
        self.cut.send_replace(cut);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.relay.abort();
    }
}

async fn relay(stream: TcpStream, target: SocketAddr, mut is_cut: watch::Receiver<bool>) {
    if is_cut.wait_for(|cut| !cut).await.is_err() {
        return;
    }
    let Ok(other) = TcpStream::connect(target).await else { return };
    // Delays of the relay's own would be no network's.
    drop((stream.set_nodelay(true), other.set_nodelay(true)));
    let ((from, back), (answers, to)) = (stream.into_split(), other.into_split());
    // When one way ends, so does the other.
    tokio::select! {
        () = pump(from, to, is_cut.clone()) => {}
        () = pump(answers, back, is_cut) => {}
    }
}

async fn pump(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut is_cut: watch::Receiver<bool>) {
    let mut chunk = vec![0; CHUNK];
    while let Ok(len @ 1..) = from.read(&mut chunk).await {
        if is_cut.wait_for(|cut| !cut).await.is_err() || to.write_all(&chunk[..len]).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn what_is_sent_while_it_is_cut_arrives_when_it_is_joined() {
        let target = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let host = "127.0.0.1".parse().expect("an address");
        let line = Line::to(target.local_addr().expect("an address"), host).await.expect("a line");
        let mut one = TcpStream::connect(line.address).await.expect("connected");
        one.write_all(b"a").await.expect("sent");
        let (mut two, _) = target.accept().await.expect("relayed");
        let mut byte = [0];
        two.read_exact(&mut byte).await.expect("a byte");
        line.cut(true);
        one.write_all(b"b").await.expect("sent");
        let read = tokio::time::timeout(Duration::from_millis(200), two.read_exact(&mut byte)).await;
        assert!(read.is_err(), "nothing arrives");
        line.cut(false);
        two.read_exact(&mut byte).await.expect("a byte");
        assert_eq!(&byte, b"b");
        drop(two);
        assert_eq!(one.read(&mut byte).await.expect("the end"), 0);
    }
}
