//! The page itself, in this program: what a browser loads.

use axum::{
    Router,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};

struct Asset {
    path: &'static str,
    kind: &'static str,
    text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

const ASSETS: &[Asset] = &[
    Asset::new("/", HTML, include_str!("page/index.html")),
    Asset::new("/style.css", STYLE, include_str!("page/style.css")),
    Asset::new("/icon.svg", PICTURE, include_str!("page/icon.svg")),
    Asset::new("/acts.js", SCRIPT, include_str!("page/acts.js")),
    Asset::new("/app.js", SCRIPT, include_str!("page/app.js")),
    Asset::new("/detail.js", SCRIPT, include_str!("page/detail.js")),
    Asset::new("/dom.js", SCRIPT, include_str!("page/dom.js")),
    Asset::new("/jobs.js", SCRIPT, include_str!("page/jobs.js")),
    Asset::new("/link.js", SCRIPT, include_str!("page/link.js")),
    Asset::new("/picture.js", SCRIPT, include_str!("page/picture.js")),
    Asset::new("/state.js", SCRIPT, include_str!("page/state.js")),
    Asset::new("/words.js", SCRIPT, include_str!("page/words.js")),
    Asset::new("/workers.js", SCRIPT, include_str!("page/workers.js")),
];

/// All files, where the page looks for them.
pub fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    ASSETS.iter().fold(Router::new(), |router, asset| {
        router.route(asset.path, get(async move |headers: HeaderMap| asset.answer(&headers)))
    })
}

impl Asset {
    const fn new(path: &'static str, kind: &'static str, text: &'static str) -> Self {
        Self { path, kind, text }
    }

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
