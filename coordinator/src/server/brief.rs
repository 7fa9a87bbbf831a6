//! Requests of users are a message each, and nobody may take all day to send it: what has come of it is held meanwhile.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::{Sleep, sleep};
use tonic::{Status, body::Body, codegen::Bytes};

/// How long a request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(10);

/// The body of a request that has to end in time.
pub struct Brief {
    body: Body,
    late: Pin<Box<Sleep>>,
}

impl Brief {
    /// From now on.
    pub fn new(body: Body) -> Self {
        Self { body, late: Box::pin(sleep(ARRIVAL)) }
    }
}

impl HttpBody for Brief {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.late.as_mut().poll(cx).is_ready() {
            let seconds = ARRIVAL.as_secs();
            return Poll::Ready(Some(Err(Status::deadline_exceeded(format!(
                "the request has not arrived within {seconds} s"
            )))));
        }
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
