use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::xml::{Element, elements};

/// Text that tries to get out of where it stands, and a name that is read backwards.
const HOSTILE: &str =
    "</text></title></svg><script>alert(1)</script>\" onload='x' &amp; \u{0}\u{1b}\u{202e}\u{ffff}";

fn plot(marks: Marks, x: Scale, y: Scale) -> Plot {
    let axis = |scale| Axis { label: "of something".into(), scale };
    Plot { title: "A plot".into(), caption: String::new(), x: axis(x), y: axis(y), marks }
}

fn bars(counts: &[u64], y: Scale) -> Plot {
    let categories = (0..counts.len()).map(|n| format!("c{n}")).collect();
    let series = vec![Bars { name: "n".into(), counts: counts.to_vec() }];
    plot(Marks::Bars { categories, series }, Scale::Linear, y)
}

fn curve(points: &[(f64, f64)]) -> Vec<Curve> {
    vec![Curve { name: "c".into(), points: points.to_vec() }]
}

/// Reads a drawing, which must be XML and have nothing in it but drawing, all of it in sight.
fn drawn(plot: &Plot) -> Vec<Element> {
    let svg = plot.svg();
    assert_eq!(svg, plot.svg(), "the same data give the same drawing");
    let elements = elements(&svg);
    for element in &elements {
        let known = ["svg", "title", "rect", "line", "polyline", "text", "circle"];
        assert!(known.contains(&element.name.as_str()), "{element:?}");
        for (name, value) in &element.attributes {
            let most = match name.as_str() {
                "x" | "x1" | "x2" | "cx" => 1600.0,
                "y" | "y1" | "y2" | "cy" => 900.0,
                _ => continue,
            };
            let value: f64 = value.parse().expect("a number");
            assert!((0.0..=most).contains(&value), "{element:?}");
        }
    }
    elements
}

/// Bars of the first series, and there are no others.
fn bars_of(elements: &[Element]) -> Vec<&Element> {
    let bars: Vec<_> =
        elements.iter().filter(|e| e.name == "rect" && e.attributes["fill"] == "#0072B2").collect();
    let backgrounds = elements.iter().filter(|e| e.name == "rect").count() - bars.len();
    assert_eq!(backgrounds, 1);
    bars
}

fn texts(elements: &[Element]) -> Vec<&str> {
    elements.iter().filter(|e| e.name == "text").map(|e| e.text.trim()).collect()
}

fn has(elements: &[Element], wanted: &[&str]) {
    let texts = texts(elements);
    wanted.iter().for_each(|text| assert!(texts.contains(text), "{text:?} is not in {texts:?}"));
}

#[test]
fn there_is_a_bar_for_each_count_that_is_not_zero() {
    for scale in [Scale::Linear, Scale::Log] {
        let elements = drawn(&bars(&[5, 0, 1, 20, 0, 3], scale));
        let bars = bars_of(&elements);
        assert_eq!(bars.len(), 4);
        let heights: Vec<_> = bars.iter().map(|bar| bar.number("height")).collect();
        assert!(heights[1] < heights[3] && heights[3] < heights[0] && heights[0] < heights[2], "{heights:?}");
        assert!(heights.iter().all(|&height| height > 1.0));
        assert!(bars.windows(2).all(|two| two[0].number("x") < two[1].number("x")));
        has(
            &elements,
            &["c0", "c1", "c2", "c3", "c4", "c5", "5", "0", "1", "20", "3", "A plot", "of something"],
        );
    }
    let linear = drawn(&bars(&[40, 10], Scale::Linear));
    let heights: Vec<_> = bars_of(&linear).iter().map(|bar| bar.number("height")).collect();
    assert!((heights[0] / heights[1] - 4.0).abs() < 0.05, "{heights:?}");
    let log = drawn(&bars(&[1000, 100, 10], Scale::Log));
    let tops: Vec<_> = bars_of(&log).iter().map(|bar| bar.number("y")).collect();
    assert!((tops[2] - tops[1] - (tops[1] - tops[0])).abs() <= 2.0, "{tops:?}");
}

#[test]
fn ticks_of_a_logarithmic_axis_are_powers_of_ten() {
    has(
        &drawn(&bars(&[7, 1_966_320], Scale::Log)),
        &["1", "10", "100", "1,000", "10,000", "100,000", "1,000,000"],
    );
    has(&drawn(&bars(&[u64::MAX, 1], Scale::Log)), &["1", "10³", "10¹⁸", "18,446,744,073,709,551,615"]);
    let points = curve(&[(0.002, 3e-9), (0.5, 2e-7)]);
    has(
        &drawn(&plot(Marks::Points(points), Scale::Log, Scale::Log)),
        &["0.001", "0.01", "0.1", "1", "10⁻⁹", "10⁻⁷"],
    );
    let near = drawn(&plot(Marks::Points(curve(&[(3.0, 20.0), (4.0, 30.0)])), Scale::Log, Scale::Log));
    has(&near, &["1", "2", "5", "10", "20", "50", "100"]);
}

#[test]
fn ticks_of_a_linear_axis_are_round() {
    has(&drawn(&bars(&[3, 1], Scale::Linear)), &["0", "1", "2", "3", "4"]);
    has(&drawn(&bars(&[123_456], Scale::Linear)), &["0", "50,000", "100,000", "150,000", "123,456"]);
    has(&drawn(&bars(&[u64::MAX], Scale::Linear)), &["0", "0.5×10¹⁹", "2.0×10¹⁹"]);
    let points = curve(&[(-1.0, 0.0), (2.0, 1.0)]);
    has(
        &drawn(&plot(Marks::Lines(points), Scale::Linear, Scale::Linear)),
        &["−1.0", "−0.5", "0", "2.0", "0.2", "1.0"],
    );
}

#[test]
fn labels_have_place() {
    let many: Vec<u64> = (0..400).collect();
    let elements = drawn(&bars(&many, Scale::Linear));
    assert_eq!(bars_of(&elements).len(), 399);
    assert!((5..40).contains(&texts(&elements).len()), "{:?}", texts(&elements));
    // Of numbers in a row the round ones are labelled, wherever the row begins.
    let clues = Plot::distribution("t", "x", "y", (17..=97u32).map(|n| (n, 1))).expect("counts");
    has(&drawn(&clues), &["20", "25", "95"]);
    // Words go on below, others are cut in the middle.
    let words: Vec<_> = (0..6).map(|n| (format!("locked candidates {n}"), n)).collect();
    let words = drawn(&Plot::counts("t", "x", "y", words).expect("counts"));
    has(&words, &["locked", "candidates 0", "candidates 5"]);
    let long = format!("{}-1.txt", "folder/".repeat(50));
    let plot = Plot::counts(&long, "x", "y", [(long.clone(), 5), ("b".into(), 3)]).expect("counts");
    let elements = drawn(&plot);
    let shortened =
        texts(&elements).into_iter().find(|text| text.ends_with("-1.txt")).expect("the end is shown");
    assert!(shortened.contains('…') && shortened.len() < 60, "{shortened}");
}

#[test]
fn text_stays_text() {
    let series = |name: &str| Bars { name: name.into(), counts: vec![5] };
    let marks = Marks::Bars { categories: vec![HOSTILE.into()], series: vec![series(HOSTILE), series("b")] };
    let axis = || Axis::linear(HOSTILE);
    let plot = Plot { title: HOSTILE.into(), caption: HOSTILE.into(), x: axis(), y: axis(), marks };
    let elements = drawn(&plot);
    let harmless =
        "</text></title></svg><script>alert(1)</script>\" onload='x' &amp; \u{fffd}\u{fffd}\u{fffd}\u{fffd}";
    assert_eq!(elements[0].attributes["aria-label"], harmless);
    assert_eq!(elements[1].text, harmless);
    let begin = |text: &&str| text.starts_with("</te");
    assert_eq!(texts(&elements).into_iter().filter(begin).count(), 5, "title, axes, category and series");
}

#[test]
fn what_has_no_place_is_left_out() {
    let points = [(f64::NAN, 1.0), (1.0, f64::INFINITY), (f64::NEG_INFINITY, 1.0), (1e300, 1.0), (2.0, 3.0)];
    let circles = |x, y| {
        let elements = drawn(&plot(Marks::Points(curve(&points)), x, y));
        elements.iter().filter(|element| element.name == "circle").count()
    };
    assert_eq!(circles(Scale::Linear, Scale::Linear), 1);
    assert_eq!(circles(Scale::Log, Scale::Log), 1);
    let below = curve(&[(0.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (5e-324, 1.0), (1.0, 1.0), (10.0, 10.0)]);
    let elements = drawn(&plot(Marks::Lines(below), Scale::Log, Scale::Log));
    let line = elements
        .iter()
        .find(|element| element.name == "polyline" && element.attributes["stroke"] == "#0072B2");
    assert_eq!(line.expect("a line").attributes["points"].split_whitespace().count(), 2);
}

#[test]
fn whatever_the_data_something_is_drawn() {
    let max = u64::MAX;
    for scale in [Scale::Linear, Scale::Log] {
        for counts in
            [vec![], vec![0], vec![0; 50], vec![1], vec![max], vec![max; 3], vec![max, 1], vec![1; 3000]]
        {
            let elements = drawn(&bars(&counts, scale));
            assert_eq!(bars_of(&elements).len(), counts.iter().filter(|&&count| count > 0).count());
        }
        drawn(&plot(Marks::Bars { categories: vec![], series: vec![] }, scale, scale));
        drawn(&plot(Marks::Bars { categories: vec!["a".into()], series: vec![] }, scale, scale));
        let many = (0..100).map(|n| Bars { name: format!("series {n}"), counts: vec![n; 5] }).collect();
        drawn(&plot(Marks::Bars { categories: vec!["a".into(); 3], series: many }, scale, scale));
        let close = 1e15 + 0.25;
        for points in [
            vec![],
            vec![(0.0, 0.0)],
            vec![(7.0, 7.0)],
            vec![(f64::NAN, f64::NAN)],
            vec![(f64::MAX, f64::MIN), (f64::MIN, f64::MAX)],
            vec![(1e200, -1e200), (-1e200, 1e200)],
            vec![(1e-200, 5e-324), (2e-200, -5e-324)],
            vec![(1e15, 1e-15), (close, 1e-15 + f64::EPSILON)],
            vec![(1e6 + 1e-3, 12_345_678.9), (1e6, 12_345_678.8)],
        ] {
            drawn(&plot(Marks::Points(curve(&points)), scale, scale));
            drawn(&plot(Marks::Lines(curve(&points)), scale, scale));
        }
        let many: Vec<_> = (0..10_000).map(|n| (f64::from(n), f64::from(n * n % 1013))).collect();
        drawn(&plot(Marks::Points(curve(&many)), scale, scale));
        drawn(&plot(Marks::Lines(curve(&many)), scale, scale));
        drawn(&plot(Marks::Lines(vec![]), scale, scale));
    }
}

#[test]
fn random_bits_are_drawn() {
    for seed in 0..300 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut number = || f64::from_bits(random.random());
        let points: Vec<_> = (0..=seed % 4).map(|_| (number(), number())).collect();
        let counts: Vec<u64> =
            (0..=seed % 40).map(|_| random.random::<u64>() >> random.random_range(0..64)).collect();
        for scale in [Scale::Linear, Scale::Log] {
            drawn(&plot(Marks::Lines(curve(&points)), scale, scale));
            let elements = drawn(&bars(&counts, scale));
            let occurring = counts.iter().filter(|&&count| count > 0).count();
            assert_eq!(bars_of(&elements).len(), occurring, "seed {seed}");
        }
    }
}

#[test]
fn distributions_have_gaps_and_are_put_together_when_wide() {
    let of = |counts: &[(u64, u64)]| {
        let plot = Plot::distribution("t", "x", "y", counts.iter().copied())?;
        let Marks::Bars { categories, series } = plot.marks else { panic!("bars") };
        Some((categories, series[0].counts.clone(), plot.y.scale))
    };
    let text = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(of(&[]), None);
    assert_eq!(of(&[(5, 0)]), None);
    let (categories, counts, scale) = of(&[(20, 1), (17, 2), (20, 4), (30, 0)]).expect("counts");
    assert_eq!(
        (categories, counts, scale),
        (text(&["17", "18", "19", "20"]), vec![2, 0, 0, 5], Scale::Linear)
    );
    let (categories, counts, scale) = of(&[(0, 1), (1, 2), (3, 3), (700, 400)]).expect("counts");
    assert_eq!(categories[..4], text(&["0", "1", "2–3", "4–7"]));
    assert_eq!((categories.last().expect("some").as_str(), scale), ("512–1023", Scale::Log));
    assert_eq!(counts, [1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 400]);
    let (categories, counts, _) = of(&[(u64::MAX, u64::MAX), (u64::MAX - 1, 1), (1, 1)]).expect("counts");
    assert_eq!(categories.last().expect("some"), "9223372036854775808–18446744073709551615");
    assert_eq!((counts.len(), counts.last()), (64, Some(&u64::MAX)));
}

#[test]
fn plots_travel_and_are_bounded() {
    let one = bars(&[1, u64::MAX], Scale::Log);
    let two = plot(
        Marks::Lines(curve(&[(0.1, 1e-300), (f64::NAN, 1.0), (2.0, f64::INFINITY)])),
        Scale::Log,
        Scale::Linear,
    );
    let sent = to_json(&[one.clone(), two.clone()]);
    let arrived = from_json(&sent).expect("plots");
    assert_eq!(arrived[0], one);
    assert_eq!(arrived[1], plot(Marks::Lines(curve(&[(0.1, 1e-300)])), Scale::Log, Scale::Linear));
    assert_eq!(from_json("").expect("none"), []);
    assert_eq!(from_json(&to_json(&[])).expect("none"), []);
    let large = bars(&vec![u64::MAX; 20_000], Scale::Linear);
    let sent = to_json(&vec![large; 10]);
    assert!(sent.len() <= MAX_PLOTS_BYTES);
    assert!((1..10).contains(&from_json(&sent).expect("plots").len()));
    assert!(from_json("[{}]").is_err());
    assert!(from_json(&" ".repeat(MAX_PLOTS_BYTES + 1)).is_err());
}
