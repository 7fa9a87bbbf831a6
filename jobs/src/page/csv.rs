//! The fields of a report's main table.

/// Rows of fields, each with or without quotes (RFC 4180). Whatever the text, it is read to its end.
pub fn rows(text: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let (mut row, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            '\r' if !quoted && chars.peek() == Some(&'\n') => {}
            c => field.push(c),
        }
    }
    if !row.is_empty() || !field.is_empty() {
        row.push(field);
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn fields_are_read_with_and_without_quotes() {
        assert_eq!(rows("a,b\n1,\"x, \"\"y\"\"\nz\"\r\n,"), [["a", "b"], ["1", "x, \"y\"\nz"], ["", ""]]);
        assert_eq!(rows("\"never closed,\n"), [["never closed,\n"]]);
        assert!(rows("").is_empty());
    }
}
