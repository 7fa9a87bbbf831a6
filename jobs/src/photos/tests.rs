#[test]
fn ink() {
    let page = super::drawn::page(&std::array::from_fn(|i| (i % 10) as u8));
    for c in 0..81 {
        let (cx, cy) = ((c % 9 + 1) * 48, (c / 9 + 1) * 48);
        let n = (6..42)
            .flat_map(|y| (6..42).map(move |x| (x, y)))
            .filter(|&(x, y)| page.at(cx + x, cy + y)[0] < 128)
            .count();
        println!("{} {}", c % 10, n);
    }
}
