//! The guard: every request about jobs and workers passes here. It asks for the same rights as the gate of gRPC
//! (`server/gate.rs`), and sees to it that what a browser sends was meant by whoever sits before it:
//!
//! - Any site may have a browser send requests to this machine. So a request that another site has caused is refused, and one
//!   that changes something has to be JSON, which no form can send.
//! - Any site may let its own name point to this machine, and be "the same site" then. So where no token is asked for, the
//!   page answers to the names of this machine only.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Instant,
};

use axum::http::{HeaderMap, HeaderValue, Method, header};

use super::{
    answers::Trouble,
    logins::{LIFETIME, Logins},
};
use crate::{
    access::{
        Caller, Right,
        rates::{Rate, Rates},
        tokens::Tokens,
    },
    server::{
        Reread,
        places::{Who, neighbourhood},
    },
};

/// Requests of one name, or (without names) from one address.
const REQUESTS: Rate = Rate::new(100, 200);
/// Logins tried from one address.
const TRIES: Rate = Rate::new(2, 20);
/// Reports of one name: they are put together for each.
const REPORTS: Rate = Rate::new(2, 10);

/// Who may pass.
pub struct Guard {
    tokens: Option<Arc<Reread<Tokens>>>,
    logins: Logins,
    /// The name of the cookie. Cookies do not know ports, and there may be several coordinators on a machine.
    cookie: String,
    encrypted: bool,
    /// Where no token is asked for: the names under which this page is known, beside those of loopback.
    names: Vec<String>,
    requests: Rates<Who>,
    reports: Rates<Who>,
    tries: Rates<IpAddr>,
}

/// Who asks, and with what it was let in.
#[derive(Clone, Debug)]
pub struct Asker {
    pub caller: Caller,
    token: Option<blake3::Hash>,
}

impl Guard {
    /// Asks for one of `tokens`, if there are some. `names` are those by which others call this machine.
    pub fn new(
        tokens: Option<Arc<Reread<Tokens>>>,
        encrypted: bool,
        address: Option<SocketAddr>,
        names: Vec<String>,
    ) -> Self {
        let cookie = format!("nonet-{}", address.map_or(0, |address| address.port()));
        let names = names.into_iter().chain(address.map(|address| address.ip().to_string())).collect();
        Self {
            tokens,
            logins: Logins::default(),
            cookie,
            encrypted,
            names,
            requests: Rates::new(REQUESTS),
            reports: Rates::new(REPORTS),
            tries: Rates::new(TRIES),
        }
    }

    /// Whether callers have to show a token.
    pub fn asks_for_token(&self) -> bool {
        self.tokens.is_some()
    }

    /// Whether a request was meant: see the module's introduction.
    pub fn is_meant(&self, method: &Method, headers: &HeaderMap) -> Result<(), Trouble> {
        let host = text(headers, &header::HOST).unwrap_or_default();
        if self.tokens.is_none() && !self.is_own_name(host) {
            return Err(Trouble::forbidden(format!(
                "this page does not know the name {host:?} as its own: use that of --web or --advertise, or localhost"
            )));
        }
        let site = headers.get("sec-fetch-site").map(|site| site.to_str().unwrap_or_default());
        if !matches!(site, None | Some("same-origin" | "none")) {
            return Err(Trouble::forbidden("another site has sent this request".into()));
        }
        if method == Method::GET {
            return Ok(());
        }
        let origin = text(headers, &header::ORIGIN);
        let own =
            |origin: &str| origin.split_once("://").is_some_and(|(_, at)| at.eq_ignore_ascii_case(host));
        if origin.is_some_and(|origin| !own(origin)) {
            return Err(Trouble::forbidden("another site has sent this request".into()));
        }
        let kind = text(headers, &header::CONTENT_TYPE).unwrap_or_default();
        if kind.split(';').next().is_none_or(|kind| !kind.trim().eq_ignore_ascii_case("application/json")) {
            return Err(Trouble::unsupported("expected Content-Type: application/json".into()));
        }
        Ok(())
    }

    fn is_own_name(&self, host: &str) -> bool {
        let name = without_port(host).trim_end_matches('.').to_ascii_lowercase();
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        let loopback = address.is_ok_and(|address| address.to_canonical().is_loopback());
        loopback || name == "localhost" || name.ends_with(".localhost") || self.names.contains(&name)
    }

    /// Who asks.
    pub fn identify(&self, headers: &HeaderMap, peer: Option<SocketAddr>) -> Result<Asker, Trouble> {
        let Some(tokens) = &self.tokens else {
            return Ok(Asker { caller: Caller { identities: Vec::new(), peer }, token: None });
        };
        let token = self.token(headers)?;
        let identity = tokens.get().find_hash(&token).cloned().ok_or_else(|| {
            Trouble::unknown("this coordinator does not know the token, or no longer".into())
        })?;
        Ok(Asker { caller: Caller { identities: vec![identity], peer }, token: Some(token) })
    }

    fn token(&self, headers: &HeaderMap) -> Result<blake3::Hash, Trouble> {
        if let Some(value) = headers.get(header::AUTHORIZATION) {
            let value = value.to_str().unwrap_or_default();
            return Ok(Tokens::hash(value.strip_prefix("Bearer ").unwrap_or_default()));
        }
        let login = self.login_of(headers).and_then(|id| self.logins.find(id, Instant::now()));
        login.ok_or_else(|| {
            Trouble::unknown(
                "this coordinator asks for a token: its operator makes one with `nonet tokens add NAME --role ROLE`; log in \
                 with it, or send it as Authorization: Bearer TOKEN"
                    .into(),
            )
        })
    }

    fn login_of<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let cookies = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        let mut cookies =
            cookies.flat_map(|line| line.split(';')).filter_map(|cookie| cookie.split_once('='));
        cookies.find(|(name, _)| name.trim() == self.cookie).map(|(_, id)| id.trim())
    }

    /// Whether whoever asks may do so, as often as it does.
    pub fn admit(
        &self,
        headers: &HeaderMap,
        peer: Option<SocketAddr>,
        right: Right,
    ) -> Result<Asker, Trouble> {
        let asker = self.identify(headers, peer);
        let address =
            || Who::Address(peer.map_or(IpAddr::from([0, 0, 0, 0]), |peer| neighbourhood(peer.ip())));
        let who = asker.as_ref().map_or_else(|_| address(), |asker| Who::of(&asker.caller));
        if !self.requests.take(who) {
            return Err(Trouble::too_many());
        }
        let asker = asker?;
        asker.caller.may(right).map_err(Trouble::forbidden)?;
        Ok(asker)
    }

    /// Whether somebody may have one report more.
    pub fn may_have_report(&self, asker: &Asker) -> Result<(), Trouble> {
        if self.reports.take(Who::of(&asker.caller)) { Ok(()) } else { Err(Trouble::too_many()) }
    }

    /// Logs in with a token, which must let see at least; who that is, and the cookie.
    pub fn log_in(&self, secret: &str, peer: Option<SocketAddr>) -> Result<(Caller, HeaderValue), Trouble> {
        let address = peer.map_or(IpAddr::from([0, 0, 0, 0]), |peer| neighbourhood(peer.ip()));
        if !self.tries.take(address) {
            return Err(Trouble::too_many());
        }
        let Some(tokens) = &self.tokens else {
            return Err(Trouble::forbidden("this coordinator asks for no token".into()));
        };
        let token = Tokens::hash(secret.trim());
        let Some(identity) = tokens.get().find_hash(&token).cloned() else {
            tracing::warn!(%address, "a login with a token that is not known");
            return Err(Trouble::unknown("this coordinator does not know the token".into()));
        };
        let caller = Caller { identities: vec![identity], peer };
        caller.may(Right::View).map_err(Trouble::forbidden)?;
        let id = self.logins.open(token, Instant::now()).ok_or_else(Trouble::too_many)?;
        tracing::info!(who = caller.actor().who, %address, "logged in to the page");
        Ok((caller, self.cookie(&id, LIFETIME.as_secs())))
    }

    /// Ends the login of a request; the cookie that says so.
    pub fn log_out(&self, headers: &HeaderMap) -> HeaderValue {
        if let Some(id) = self.login_of(headers) {
            self.logins.close(id);
        }
        self.cookie("", 0)
    }

    fn cookie(&self, id: &str, seconds: u64) -> HeaderValue {
        let secure = if self.encrypted { "; Secure" } else { "" };
        let name = &self.cookie;
        let cookie = format!("{name}={id}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
        HeaderValue::try_from(cookie).unwrap_or(HeaderValue::from_static(""))
    }

    /// Ends when the token of an asker, or the right to see, is gone.
    pub async fn withdrawn(&self, asker: &Asker) {
        let (Some(tokens), Some(hash)) = (&self.tokens, &asker.token) else {
            return std::future::pending().await;
        };
        let mut changes = tokens.changes();
        loop {
            let known = changes.borrow_and_update().find_hash(hash).cloned();
            if known.is_none_or(|identity| !identity.role.has(Right::View)) {
                return;
            }
            if changes.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or_default())
}

/// A host without its port: `[::1]:80`, `a.b:80`.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(names: &[&str]) -> Guard {
        let names = names.iter().map(ToString::to_string).collect();
        Guard::new(None, false, Some(([127, 0, 0, 1], 7780).into()), names)
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let value = |text: &str| HeaderValue::try_from(text).expect("a value");
        pairs.iter().map(|(name, text)| (header::HeaderName::from_static(name), value(text))).collect()
    }

    #[test]
    fn names_of_this_machine_are_its_own_and_others_are_not() {
        let guard = guard(&["head.example.org"]);
        let own = [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1:7780",
            "127.1.2.3",
            "[::1]",
            "[::1]:7780",
            "a.localhost:1",
        ];
        for host in
            own.into_iter().chain(["head.example.org:7780", "head.example.org.", "[::ffff:127.0.0.1]:1"])
        {
            assert!(guard.is_own_name(host), "{host}");
        }
        for host in
            ["", "evil.org", "localhost.evil.org", "127.0.0.1.evil.org", "128.0.0.1", "[::2]:7780", "head"]
        {
            assert!(!guard.is_own_name(host), "{host}");
        }
    }

    #[test]
    fn what_another_site_sends_is_refused() {
        let guard = guard(&[]);
        let json = ("content-type", "application/json; charset=utf-8");
        let host = ("host", "127.0.0.1:7780");
        let judged = |method: Method, more: &[(&'static str, &str)]| {
            guard.is_meant(&method, &headers(more)).map_err(|trouble| trouble.status.as_u16()).err()
        };
        assert_eq!(judged(Method::GET, &[host]), None);
        assert_eq!(judged(Method::GET, &[("host", "evil.org")]), Some(403));
        assert_eq!(judged(Method::GET, &[]), Some(403));
        for site in ["cross-site", "same-site", "\u{fc}"] {
            assert_eq!(judged(Method::GET, &[host, ("sec-fetch-site", site)]), Some(403));
        }
        assert_eq!(judged(Method::GET, &[host, ("sec-fetch-site", "same-origin")]), None);
        assert_eq!(judged(Method::POST, &[host, json]), None);
        assert_eq!(judged(Method::POST, &[host, json, ("origin", "http://127.0.0.1:7780")]), None);
        for origin in ["null", "http://evil.org", "http://127.0.0.1:7781", "127.0.0.1:7780", "\u{fc}"] {
            assert_eq!(judged(Method::POST, &[host, json, ("origin", origin)]), Some(403), "{origin}");
        }
        for kind in ["", "text/plain", "application/x-www-form-urlencoded", "text/plain; application/json"] {
            assert_eq!(judged(Method::POST, &[host, ("content-type", kind)]), Some(415), "{kind}");
        }
        assert_eq!(judged(Method::POST, &[host]), Some(415));
    }
}
