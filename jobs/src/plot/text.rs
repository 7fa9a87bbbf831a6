//! Text in drawings and pages. It can come from anywhere: names of files, lines of corpora.

use std::fmt::Write;

/// Text for between tags and for attributes, of HTML and XML alike.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars().map(shown) {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Text of one line, at most `most` characters of it.
pub fn line(text: &str, most: usize) -> String {
    let mut chars = text.chars().map(|c| if c.is_whitespace() { ' ' } else { shown(c) });
    let mut line: String = chars.by_ref().take(most).collect();
    if chars.next().is_some() {
        line.pop();
        line.push('…');
    }
    line
}

/// A character, or what stands for it where it is none in XML, or would turn the order of its neighbours about.
fn shown(c: char) -> char {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let none = c.is_control() && !matches!(c, '\n' | '\t') || matches!(c, '\u{fffe}' | '\u{ffff}');
    if turns || none { '\u{fffd}' } else { c }
}

/// About how wide a text is at a font size, rather too wide than too narrow. Nobody knows the reader's fonts.
pub fn width(text: &str, size: i32) -> i32 {
    let hundredths = text.chars().map(|c| match c {
        'i' | 'j' | 'l' | '.' | ',' | ' ' | '\'' => 36,
        'm' | 'w' | 'M' | 'W' | '…' => 100,
        '⁰'..='⁹' | '¹' | '²' | '³' | '⁻' => 45,
        _ if c.is_ascii() || c == '–' => 65,
        _ if u32::from(c) < 0x1100 => 85,
        _ => 110,
    });
    let hundredths = hundredths.fold(0i32, i32::saturating_add);
    hundredths.saturating_mul(size) / 100
}

/// What is left out of a text that is too long.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// What can be guessed from the beginning.
    End,
    /// Names of files differ at their ends.
    Middle,
}

/// As much of a text as has place.
pub fn fit(text: &str, place: i32, size: i32, cut: Cut) -> String {
    let text = line(text, usize::MAX);
    if width(&text, size) <= place {
        return text;
    }
    let chars: Vec<char> = text.chars().collect();
    let shortened = |left: usize| {
        let behind = if cut == Cut::Middle { left / 2 } else { 0 };
        let parts = [&chars[..left - behind], &['…'], &chars[chars.len() - behind..]];
        parts.concat().into_iter().collect::<String>()
    };
    let fitting = (0..chars.len()).map(shortened).take_while(|text| width(text, size) <= place).last();
    fitting.unwrap_or_default()
}

/// A text on one line, or on two if it has no place on one; shortened if it has none on two.
pub fn lines(text: &str, place: i32, size: i32) -> (String, Option<String>) {
    let text = line(text, usize::MAX);
    let wide = |part: &str| width(part, size);
    if wide(&text) > place {
        let halves = text.match_indices(' ').map(|(at, _)| (&text[..at], &text[at + 1..]));
        let most = |&(first, second): &(&str, &str)| wide(first).max(wide(second));
        if let Some((first, second)) = halves.min_by_key(most).filter(|halves| most(halves) <= place) {
            return (first.into(), Some(second.into()));
        }
    }
    (fit(&text, place, size, Cut::Middle), None)
}

/// A number with commas between groups of three digits.
pub fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("−", digits));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut text = sign.to_owned();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

/// A power of ten.
pub fn power_of_ten(exponent: i32) -> String {
    match exponent {
        0 => "1".into(),
        1 => "10".into(),
        _ => {
            let mut text = "10".to_owned();
            for c in exponent.to_string().chars() {
                let digit = c
                    .to_digit(10)
                    .map(|digit| ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit as usize]);
                text.write_char(digit.unwrap_or('⁻')).expect("strings take everything");
            }
            text
        }
    }
}
