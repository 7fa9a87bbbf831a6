//! Characters made of strokes, so that no font is needed.

/// Strokes of each character in a box 4 wide and 6 high: x and y of the points of a stroke, strokes apart by a blank.
const GLYPHS: [(char, &str); 40] = [
    ('0', "103041453616050110"),
    ('1', "112026"),
    ('2', "01103041420646"),
    ('3', "01103041423313 334445361605"),
    ('4', "36300444"),
    ('5', "400003324345361605"),
    ('6', "413010010516364544331304"),
    ('7', "004016"),
    ('8', "13020110304142331304051636454433"),
    ('9', "051636454130100102133342"),
    ('A', "062046 1434"),
    ('B', "06003041423303 3344453606"),
    ('C', "4130100105163645"),
    ('D', "00063645413000"),
    ('E', "40000646 0333"),
    ('F', "400006 0333"),
    ('G', "41301001051636454323"),
    ('H', "0006 4046 0343"),
    ('I', "2026 1030 1636"),
    ('J', "4045361605"),
    ('K', "0006 4003 0346"),
    ('L', "000646"),
    ('M', "0600234046"),
    ('N', "06004640"),
    ('O', "103041453616050110"),
    ('P', "06003041423303"),
    ('Q', "103041453616050110 2446"),
    ('R', "06003041423303 2346"),
    ('S', "413010010213334445361605"),
    ('T', "0040 2026"),
    ('U', "000516364540"),
    ('V', "002640"),
    ('W', "0016233640"),
    ('X', "0046 4006"),
    ('Y', "002340 2326"),
    ('Z', "00400646"),
    ('.', "2526"),
    ('-', "1333"),
    ('?', "01103041422324 2526"),
    ('/', "4006"),
];

/// The strokes of a character, each a row of points in a box 4 wide and 6 high; none for one that is not known.
pub fn strokes(character: char) -> impl Iterator<Item = Vec<(f32, f32)>> {
    let known = GLYPHS.iter().find(|(known, _)| *known == character.to_ascii_uppercase());
    let strokes = known.map(|(_, strokes)| *strokes).unwrap_or_default();
    strokes.split_ascii_whitespace().map(|stroke| {
        let (points, _) = stroke.as_bytes().as_chunks::<2>();
        points.iter().map(|&[x, y]| (f32::from(x - b'0'), f32::from(y - b'0'))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strokes_are_inside_the_box_and_there_is_one_for_each_letter_and_digit() {
        for character in ('0'..='9').chain('a'..='z') {
            let strokes: Vec<_> = strokes(character).collect();
            assert!(strokes.iter().all(|stroke| stroke.len() > 1) && !strokes.is_empty(), "{character}");
            assert!(strokes.iter().flatten().all(|&(x, y)| x <= 4.0 && y <= 6.0), "{character}");
        }
        assert!(GLYPHS.iter().all(|(_, strokes)| strokes.split(' ').all(|stroke| stroke.len() % 2 == 0)));
        assert_eq!(strokes('ß').count(), 0);
    }
}
