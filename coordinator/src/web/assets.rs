//! The page itself: three files and a picture, in this program.

use axum::{
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};

struct Asset {
    kind: &'static str,
    text: &'static str,
}

const PAGE: Asset = Asset { kind: "text/html; charset=utf-8", text: include_str!("page/index.html") };
const STYLE: Asset = Asset { kind: "text/css; charset=utf-8", text: include_str!("page/style.css") };
const SCRIPT: Asset = Asset { kind: "text/javascript; charset=utf-8", text: include_str!("page/app.js") };
const ICON: Asset = Asset { kind: "image/svg+xml", text: include_str!("page/icon.svg") };

impl Asset {
    /// The file, or that it has not changed.
    fn answer(&self, headers: &HeaderMap) -> Response {
        let tag = format!("\"{}\"", &blake3::hash(self.text.as_bytes()).to_hex()[..16]);
        let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
        // Asked for each time: after an upgrade the page must fit the coordinator.
        let caching = [(header::CACHE_CONTROL, "no-cache".to_owned()), (header::ETAG, tag.clone())];
        if known.is_some_and(|known| known.split(',').any(|known| known.trim() == tag)) {
            return (StatusCode::NOT_MODIFIED, caching).into_response();
        }
        (caching, [(header::CONTENT_TYPE, self.kind)], self.text).into_response()
    }
}

/// `/`
pub async fn page(headers: HeaderMap) -> Response {
    PAGE.answer(&headers)
}

/// `/style.css`
pub async fn style(headers: HeaderMap) -> Response {
    STYLE.answer(&headers)
}

/// `/app.js`
pub async fn script(headers: HeaderMap) -> Response {
    SCRIPT.answer(&headers)
}

/// `/icon.svg`
pub async fn icon(headers: HeaderMap) -> Response {
    ICON.answer(&headers)
}
