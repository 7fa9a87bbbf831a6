//! Pages of HTML, as `--format html` prints them.

use quick_xml::events::Event;

/// The texts of all elements `name`, of a page that must be well-formed.
pub fn texts(page: &str, name: &str) -> Vec<String> {
    let mut reader = quick_xml::Reader::from_str(page);
    reader.config_mut().expand_empty_elements = true;
    let (mut texts, mut inside) = (Vec::<String>::new(), false);
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Start(start) if start.name().0 == name.as_bytes() => {
                inside = true;
                texts.push(String::new());
            }
            Event::End(end) if end.name().0 == name.as_bytes() => inside = false,
            Event::Text(text) if inside => {
                texts.last_mut().expect("begun").push_str(&text.decode().expect("UTF-8"));
            }
            Event::Eof => return texts.into_iter().map(|text| text.trim().to_owned()).collect(),
            _ => {}
        }
    }
}
