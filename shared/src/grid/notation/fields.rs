//! The fields of a line of a table.

/// Fields in order, without their quotes; doubled quotes inside are left as they are, for no puzzle has any.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    rest: Option<&'a [u8]>,
    delimiter: u8,
}

impl<'a> Fields<'a> {
    pub fn new(line: &'a [u8], delimiter: u8) -> Self {
        Self { rest: Some(line), delimiter }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let mut rest = self.rest.take()?;
        if self.delimiter == b' ' {
            rest = rest.trim_ascii_start();
            if rest.is_empty() {
                return None;
            }
        }
        let quoted = quoted_end(rest).unwrap_or(0);
        let end = rest[quoted..].iter().position(|&byte| byte == self.delimiter).map(|end| quoted + end);
        self.rest = end.map(|end| &rest[end + 1..]);
        let field = &rest[..end.unwrap_or(rest.len())];
        Some(unquoted(field))
    }
}

/// Where a quoted field at the beginning of a text ends: behind its second quote. A quote that is never closed is a
/// character like others.
fn quoted_end(text: &[u8]) -> Option<usize> {
    let open = text.iter().position(|&byte| byte != b' ').filter(|&at| text[at] == b'"')?;
    let mut at = open + 1;
    loop {
        at += text[at..].iter().position(|&byte| byte == b'"')? + 1;
        match text.get(at) {
            Some(b'"') => at += 1,
            _ => return Some(at),
        }
    }
}

fn unquoted(field: &[u8]) -> &[u8] {
    let inside = field.trim_ascii().strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\""));
    inside.unwrap_or(field)
}
