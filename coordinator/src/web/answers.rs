//! Answers in JSON, and what is answered where there is none.

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use crate::{engine::Refusal, seat::Seat};

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub status: StatusCode,
    pub why: String,
    /// Who leads, where another coordinator does: its URL, and that of its page.
    leader: Option<(String, String)>,
}

impl Trouble {
    fn new(status: StatusCode, why: String) -> Self {
        Self { status, why, leader: None }
    }

    /// The request is wrong.
    pub fn invalid(why: String) -> Self {
        Self::new(StatusCode::BAD_REQUEST, why)
    }

    /// It is not known who asks.
    pub fn unknown(why: String) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, why)
    }

    /// It is, and may not.
    pub fn forbidden(why: String) -> Self {
        Self::new(StatusCode::FORBIDDEN, why)
    }

    /// The request is of a form that is not taken.
    pub fn unsupported(why: String) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why)
    }

    /// More than is read.
    pub fn too_large(why: String) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, why)
    }

    /// It took too long.
    pub fn too_slow(why: String) -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, why)
    }

    /// There is nothing of the kind.
    pub fn absent(why: String) -> Self {
        Self::new(StatusCode::NOT_FOUND, why)
    }

    /// Too many at a time.
    pub fn too_many() -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, "too many requests at a time: ask less often".into())
    }

    /// Another coordinator leads, or none.
    pub fn standby(seat: &Seat) -> Self {
        let (why, leader) = match seat.leader() {
            Some(leader) => {
                let why = format!("this coordinator stands by, {} leads", leader.url);
                (why, Some((leader.url, leader.page)))
            }
            None => ("this coordinator stands by, and none leads yet".into(), None),
        };
        Self { leader, ..Self::new(StatusCode::SERVICE_UNAVAILABLE, why) }
    }
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        let status = match refusal {
            Refusal::NotFound(_) => StatusCode::NOT_FOUND,
            Refusal::Invalid(_) => StatusCode::BAD_REQUEST,
            Refusal::NotNow(_) | Refusal::Superseded => StatusCode::CONFLICT,
            Refusal::Failed(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self::new(status, refusal.to_string())
    }
}

impl IntoResponse for Trouble {
    fn into_response(self) -> Response {
        let mut body = json!({ "error": self.why });
        if let Some((url, page)) = self.leader {
            body["leader"] = json!({ "url": url, "page": page });
        }
        let mut answer = (self.status, Json(body)).into_response();
        let headers = answer.headers_mut();
        if self.status == StatusCode::TOO_MANY_REQUESTS {
            headers.insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
        }
        answer
    }
}

/// JSON.
pub struct Json(pub Value);

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0.to_string() + "\n").into_response()
    }
}
