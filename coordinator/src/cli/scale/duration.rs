//! Times as Slurm writes them.

/// A limit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeLimit {
    /// So many seconds.
    Seconds(u64),
    /// None.
    Unlimited,
}

/// Slurm's own bound is a year of minutes and more; anything longer is as good as no limit.
const MOST_DAYS: u64 = 100_000;

/// Reads `MINUTES`, `MINUTES:SECONDS`, `HOURS:MINUTES:SECONDS`, `DAYS-HOURS`, `DAYS-HOURS:MINUTES`,
/// `DAYS-HOURS:MINUTES:SECONDS`, `UNLIMITED` or `INFINITE`.
///
/// # Errors
///
/// For anything else, in words.
pub fn parse(text: &str) -> Result<TimeLimit, String> {
    if ["UNLIMITED", "INFINITE", "-1"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Ok(TimeLimit::Unlimited);
    }
    let bad = || format!("{text:?} is no time: expected as 90 (minutes), 12:00:00, 2-00:00:00 or UNLIMITED");
    let number = |text: &str| text.parse::<u64>().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(number(days).ok_or_else(bad)?), rest),
        None => (None, text),
    };
    let parts: Vec<u64> = rest.split(':').map(number).collect::<Option<_>>().ok_or_else(bad)?;
    let (hours, minutes, seconds) = match (days, &parts[..]) {
        (None, &[minutes]) => (0, minutes, 0),
        (None, &[minutes, seconds]) => (0, minutes, seconds),
        (Some(_), &[hours]) => (hours, 0, 0),
        (Some(_), &[hours, minutes]) => (hours, minutes, 0),
        (_, &[hours, minutes, seconds]) => (hours, minutes, seconds),
        _ => return Err(bad()),
    };
    let days = days.unwrap_or(0);
    if days > MOST_DAYS || [hours, minutes, seconds].iter().any(|&n| n > MOST_DAYS * 1_440) {
        return Err(bad());
    }
    Ok(TimeLimit::Seconds(((days * 24 + hours) * 60 + minutes) * 60 + seconds))
}

impl std::fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self::Seconds(seconds) = self else { return f.write_str("UNLIMITED") };
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
        write!(f, "{days}-{hours:02}:{minutes:02}:{:02}", seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_the_manual_is_read() {
        let seconds = [
            ("90", 5_400),
            ("90:30", 5_430),
            ("1:30:00", 5_400),
            ("2-1", 176_400),
            ("2-01:30", 178_200),
            ("7-00:00:00", 604_800),
            ("6-06:00:00", 540_000),
        ];
        for (text, seconds) in seconds {
            assert_eq!(parse(text), Ok(TimeLimit::Seconds(seconds)), "{text}");
        }
        assert_eq!(parse("infinite"), Ok(TimeLimit::Unlimited));
        for text in ["", "-", "1-", "x", "1:2:3:4", "1-2:3:4:5", "+5", "99999999999999999999", "9999999-0"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("1:00:00").expect("good") < TimeLimit::Unlimited);
        assert_eq!(parse("2-01:30").expect("good").to_string(), "2-01:30:00");
    }
}
