//! `nonet audit`: who did what.

use clap::Args;
use proto::v1::Act;
use serde_json::json;

use super::{
    args::{Format, ListArgs},
    exit::{Failure, Outcome},
    format, remote,
};

/// Arguments of `nonet audit`.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// So many of the newest; `nonet ledger export` has all there ever were
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    last: u32,
    #[command(flatten)]
    list: ListArgs,
}

/// Prints the newest acts, oldest of them first.
pub async fn audit(args: AuditArgs) -> Result<Outcome, Failure> {
    let AuditArgs { last, list: ListArgs { to, format } } = args;
    let acts = remote::connect(to).await?.audit(last).await?;
    format::print(&listing(&acts, format)?)?;
    Ok(Outcome::Done)
}

fn listing(acts: &[Act], format: Format) -> Result<String, Failure> {
    Ok(match format {
        Format::Json => {
            let one = |act: &Act| {
                let Act { at_unix_ms, who, role, peer, action, run, detail } = act;
                json!({
                    "at_unix_ms": at_unix_ms, "who": who, "role": role, "peer": peer, "action": action, "run": run,
                    "detail": detail,
                })
            };
            serde_json::Value::Array(acts.iter().map(one).collect()).to_string() + "\n"
        }
        Format::Csv => csv(acts).map_err(|e| Failure::failed(e.to_string()))?,
        Format::Table if acts.is_empty() => "nobody has done anything yet\n".into(),
        Format::Table => {
            let row = |act: &Act| {
                let cells =
                    [&act.who, &act.role, &act.peer, &act.action, &act.detail].map(|text| or_dash(text));
                let [who, role, peer, action, detail] = cells;
                [utc(act.at_unix_ms), who, role, peer, action, detail]
            };
            let rows: Vec<_> = acts.iter().map(row).collect();
            format::table(["TIME (UTC)", "WHO", "ROLE", "FROM", "ACTION", "WHAT"], &rows)
        }
    })
}

fn csv(acts: &[Act]) -> Result<String, Box<dyn std::error::Error>> {
    let mut out = csv::Writer::from_writer(Vec::new());
    out.write_record(["at_unix_ms", "who", "role", "peer", "action", "run", "detail"])?;
    for Act { at_unix_ms, who, role, peer, action, run, detail } in acts {
        out.write_record([&at_unix_ms.to_string(), who, role, peer, action, run, detail])?;
    }
    Ok(String::from_utf8(out.into_inner()?)?)
}

fn or_dash(text: &str) -> String {
    if text.is_empty() { "-".into() } else { text.into() }
}

/// Date and time of day, to the second. The days are counted as in H. Hinnant's "chrono-compatible low-level date algorithms":
/// years begin in March, so that the day that comes and goes is the last one.
fn utc(unix_ms: u64) -> String {
    let seconds = unix_ms / 1000;
    let (days, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_399, "2000-02-28 23:59:59"),
            (951_782_400, "2000-02-29 00:00:00"),
            (1_709_164_800, "2024-02-29 00:00:00"),
            (4_107_542_400, "2100-03-01 00:00:00"),
            (1_764_806_399, "2025-12-03 23:59:59"),
        ] {
            assert_eq!(utc(seconds * 1000 + 999), text);
        }
    }
}
