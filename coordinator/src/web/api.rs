//! What is asked about jobs and workers, and done to them.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::{
    Extension,
    body::{Body, to_bytes},
    extract::{Path, Request, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use proto::v1::{Action, State as JobState};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::{
    Site,
    answers::{Json, Trouble},
    feed,
    guard::Asker,
    peer_of, shapes,
};
use crate::{
    access::{Caller, Right},
    engine::{Engine, Wanted},
    server::places::Who,
    shown,
};

/// Jobs or workers of one answer.
const MOST: usize = 500;
/// Bytes of a request, and how long they may take.
const MAX_REQUEST_BYTES: usize = 4 << 10;
const ARRIVAL: Duration = Duration::from_secs(10);
/// The report's page has its own style in it, and may be framed by ours; it has no scripts, and may do nothing else.
const REPORT_POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'";

type Answer = Result<Response, Trouble>;
type Shared = State<Arc<Site>>;

fn engine(site: &Site) -> Result<Engine, Trouble> {
    site.seat.engine().map_err(|_| Trouble::standby(&site.seat))
}

/// Reads the JSON of a request.
async fn body<T: DeserializeOwned>(request: Request) -> Result<T, Trouble> {
    let bytes = timeout(ARRIVAL, to_bytes(request.into_body(), MAX_REQUEST_BYTES)).await;
    let bytes = bytes
        .map_err(|_| {
            Trouble::too_slow(format!("the request has not arrived within {} s", ARRIVAL.as_secs()))
        })?
        .map_err(|_| Trouble::too_large(format!("expected at most {MAX_REQUEST_BYTES} bytes")))?;
    serde_json::from_slice(&bytes).map_err(|e| Trouble::invalid(format!("the request: {e}")))
}

/// What is asked for behind the question mark.
fn wanted(request: &Request) -> Result<Wanted, Trouble> {
    let query = request.uri().query().unwrap_or_default();
    let pairs: HashMap<_, _> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let mut wanted = Wanted { most: MOST, ..Wanted::default() };
    for (name, value) in pairs {
        let number =
            || value.parse().map_err(|_| Trouble::invalid(format!("{name}={value}: expected a number")));
        match name.as_str() {
            "q" => wanted.text.clone_from(&value),
            "skip" => wanted.skip = number()?,
            "limit" => wanted.most = number()?.min(MOST),
            "state" => wanted.state = Some(state(&value)?),
            _ => return Err(Trouble::invalid(format!("{name}: expected q, state, skip or limit"))),
        }
    }
    Ok(wanted)
}

fn state(name: &str) -> Result<JobState, Trouble> {
    use JobState::{Cancelled, Conflicted, Finished, Paused, Running, Stale};
    let all = [Running, Paused, Cancelled, Conflicted, Finished, Stale];
    let found = all.into_iter().find(|state| shown::state(*state) == name);
    found.ok_or_else(|| {
        let known = all.map(shown::state).join(", ");
        Trouble::invalid(format!("state={name}: expected one of {known}"))
    })
}

/// Who asks, as far as that is known, and whom to ask. Always answered: what the page shows first depends on it.
pub async fn whoami(State(site): Shared, request: Request) -> Answer {
    site.guard.is_meant(request.method(), request.headers())?;
    if !site.probes.take(super::address(&request)) {
        return Err(Trouble::too_many());
    }
    let asker = site.guard.identify(request.headers(), peer_of(&request)).ok();
    let may = |right| asker.as_ref().is_some_and(|asker| asker.caller.may(right).is_ok());
    let who = asker.as_ref().map(|asker| asker.caller.actor());
    let leader = site.seat.leader().map(|leader| json!({ "url": leader.url, "page": leader.page }));
    Ok(Json(json!({
        "asks_for_token": site.guard.asks_for_token(),
        "who": who.as_ref().map(|actor| &actor.who),
        "role": who.as_ref().map(|actor| &actor.role),
        "may_view": may(Right::View),
        "may_operate": may(Right::Operate),
        "leads": site.seat.engine().is_ok(),
        "leader": leader,
        "version": env!("CARGO_PKG_VERSION"),
    }))
    .into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Login {
    token: String,
}

/// A token in, a cookie out.
pub async fn login(State(site): Shared, request: Request) -> Answer {
    site.guard.is_meant(request.method(), request.headers())?;
    let peer = peer_of(&request);
    let Login { token } = body(request).await?;
    let (caller, cookie): (Caller, HeaderValue) = site.guard.log_in(&token, peer)?;
    let actor = caller.actor();
    let body = Json(json!({ "who": actor.who, "role": actor.role }));
    Ok(([(header::SET_COOKIE, cookie)], body).into_response())
}

/// Ends a login.
pub async fn logout(State(site): Shared, request: Request) -> Answer {
    site.guard.is_meant(request.method(), request.headers())?;
    let cookie = site.guard.log_out(request.headers());
    Ok(([(header::SET_COOKIE, cookie)], Json(json!({}))).into_response())
}

/// Some of the jobs.
pub async fn jobs(State(site): Shared, request: Request) -> Answer {
    let view = engine(&site)?.view_jobs(wanted(&request)?).await?;
    Ok(Json(shapes::jobs(&view)).into_response())
}

/// One job, whole.
pub async fn job(State(site): Shared, Path(name): Path<String>) -> Answer {
    let status = engine(&site)?.status(name).await?;
    Ok(Json(shapes::job(&status)).into_response())
}

/// Where a job's units are.
pub async fn ranges(State(site): Shared, Path(name): Path<String>) -> Answer {
    let json = site.pictures.get(engine(&site)?, name).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json.to_string()).into_response())
}

/// A job's report.
pub async fn report(
    State(site): Shared,
    Extension(asker): Extension<Asker>,
    Path((name, form)): Path<(String, String)>,
) -> Answer {
    let kind = match form.as_str() {
        "report" => "application/json",
        "report.html" => "text/html; charset=utf-8",
        "report.csv" => "text/csv; charset=utf-8",
        "report.txt" => "text/plain; charset=utf-8",
        _ => {
            return Err(Trouble::absent(format!(
                "{form}: expected report, report.html, report.csv or report.txt"
            )));
        }
    };
    site.guard.may_have_report(&asker)?;
    let (status, report) = engine(&site)?.result(name).await?;
    // Drawing and escaping megabytes takes a while.
    let made = tokio::task::spawn_blocking(move || match form.as_str() {
        "report.html" => shown::page(&status, &report, &[]),
        "report.csv" => report.csv,
        "report.txt" => report.table,
        _ => shown::with_job(&status, &report.json).to_string() + "\n",
    });
    let text = made.await.map_err(|e| Trouble::from(crate::engine::Refusal::Failed(e.to_string())))?;
    let headers = [(header::CONTENT_TYPE, kind), (header::CONTENT_SECURITY_POLICY, REPORT_POLICY)];
    Ok((headers, text).into_response())
}

/// Pauses, resumes, cancels or retries a job.
pub async fn control(
    State(site): Shared,
    Extension(asker): Extension<Asker>,
    Path((name, verb)): Path<(String, String)>,
    request: Request,
) -> Answer {
    let action = match verb.as_str() {
        "pause" => Action::Pause,
        "resume" => Action::Resume,
        "cancel" => Action::Cancel,
        "retry" => Action::Retry,
        _ => return Err(Trouble::absent(format!("{verb}: expected pause, resume, cancel or retry"))),
    };
    says_nothing(request).await?;
    let status = engine(&site)?.control(name, action, asker.caller.actor()).await?;
    Ok(Json(shapes::job(&status)).into_response())
}

/// Reads the body of a request that says nothing beside its path: `{}`.
async fn says_nothing(request: Request) -> Result<(), Trouble> {
    let fields: Map<String, Value> = body(request).await?;
    match fields.keys().next() {
        None => Ok(()),
        Some(field) => {
            Err(Trouble::invalid(format!("the request: {field:?} says nothing here: expected {{}}")))
        }
    }
}

/// Some of the workers.
pub async fn workers(State(site): Shared, request: Request) -> Answer {
    let view = engine(&site)?.view_crew(wanted(&request)?).await?;
    Ok(Json(shapes::crew(&view)).into_response())
}

/// Gives a worker no further leases, or lets a quarantined one in again.
pub async fn worker(
    State(site): Shared,
    Extension(asker): Extension<Asker>,
    Path((id, verb)): Path<(String, String)>,
    request: Request,
) -> Answer {
    says_nothing(request).await?;
    let by = asker.caller.actor();
    let worker = match verb.as_str() {
        "drain" => engine(&site)?.drain(id, by).await?,
        "readmit" => engine(&site)?.readmit(id, by).await?,
        _ => return Err(Trouble::absent(format!("{verb}: expected drain or readmit"))),
    };
    Ok(Json(json!({ "worker": worker })).into_response())
}

/// What goes on, as it does.
pub async fn events(State(site): Shared, Extension(asker): Extension<Asker>) -> Answer {
    let place = site.watchers.take(Who::of(&asker.caller)).ok_or_else(Trouble::too_many)?;
    let events = feed::events(Arc::clone(&site), asker, place, site.stop.clone());
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((StatusCode::OK, headers, Body::from_stream(events)).into_response())
}
