//! Reads the XML that drawings and pages are to be, and accepts no other. For tests.

use std::collections::BTreeMap;

use quick_xml::{Reader, XmlVersion, escape::resolve_predefined_entity, events::Event};

/// An element with its attributes and the text directly in it.
#[derive(Debug, Default)]
pub struct Element {
    pub name: String,
    pub attributes: BTreeMap<String, String>,
    pub text: String,
}

impl Element {
    /// An attribute that is a number.
    pub fn number(&self, name: &str) -> f64 {
        self.attributes[name].parse().unwrap_or_else(|e| panic!("{name} of {self:?}: {e}"))
    }
}

/// All elements, in their order. Panics at what is no XML.
pub fn elements(xml: &str) -> Vec<Element> {
    let legal = |c: char| {
        matches!(c, '\n' | '\t' | ' '..='\u{fffd}' | '\u{10000}'..) && !('\x7f'..='\u{9f}').contains(&c)
    };
    assert!(xml.chars().all(legal), "a character that is none in XML");
    let mut reader = Reader::from_str(xml);
    reader.config_mut().enable_all_checks(true);
    reader.config_mut().expand_empty_elements = true;
    let (mut elements, mut open, mut roots) = (Vec::<Element>::new(), Vec::new(), 0);
    loop {
        match reader.read_event().unwrap_or_else(|e| panic!("{e} before byte {}", reader.error_position())) {
            Event::Start(start) => {
                roots += usize::from(open.is_empty());
                open.push(elements.len());
                let name = String::from_utf8(start.name().0.to_vec()).expect("UTF-8");
                let attribute = |attribute: Result<quick_xml::events::attributes::Attribute<'_>, _>| {
                    let attribute = attribute.expect("each attribute once, with quotes");
                    assert!(!attribute.value.contains(&b'<'), "{attribute:?}");
                    let value = attribute.normalized_value(XmlVersion::Implicit1_0).expect("known entities");
                    (String::from_utf8(attribute.key.0.to_vec()).expect("UTF-8"), value.into_owned())
                };
                let attributes = start.attributes().map(attribute).collect();
                elements.push(Element { name, attributes, text: String::new() });
            }
            Event::End(_) => drop(open.pop()),
            Event::Text(text) => {
                let text = text.decode().expect("UTF-8");
                match open.last() {
                    Some(&inside) => elements[inside].text += &text,
                    None => assert!(text.trim().is_empty(), "{text:?} outside"),
                }
            }
            Event::GeneralRef(reference) => {
                let name = reference.decode().expect("UTF-8");
                let inside = &mut elements[*open.last().expect("no entities outside")];
                match reference.resolve_char_ref().expect("a character") {
                    Some(c) => inside.text.push(c),
                    None => inside.text += resolve_predefined_entity(&name).expect("a known entity"),
                }
            }
            Event::DocType(_) => assert!(elements.is_empty()),
            Event::Eof => break,
            other => panic!("{other:?} is not written here"),
        }
    }
    assert_eq!((roots, open.len()), (1, 0), "one element around all, and it ends");
    elements
}
