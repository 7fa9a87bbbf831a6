//! Grids that a symmetry fixes.
mod cover;
mod mask;
mod memo;
mod orbits;
mod templates;

/// Experiment.
pub fn experiment(shape: crate::grid::Shape, most: usize) {
    use mask::Mask;
    use std::time::Instant;
    fn one<M: Mask>(
        class: &crate::symmetry::ConjugacyClass,
        orbits: &orbits::CellOrbits,
        times: &mut [f64; 4],
        most: usize,
        n: usize,
    ) -> u128 {
        let t = Instant::now();
        let cover = cover::Cover::<M>::new(orbits, &class.centralizer());
        let d1 = t.elapsed().as_secs_f64();
        times[1] += d1;
        let t = Instant::now();
        let mut nodes = [0; 2];
        let mut memo = memo::Memo::new(most);
        let c: u128 = (0..cover.firsts.len()).map(|i| cover.count_first(i, &mut memo, &mut nodes)).sum();
        let d2 = t.elapsed().as_secs_f64();
        times[2] += d2;
        if c > 0 || d1 + d2 > 0.001 {
            println!(
                "class {n} order {} size {} ct {:?} orbits {} blocks {} weight {} firsts {} count {c} build {d1:.5} count {d2:.5} nodes {} tails {} us",
                class.order,
                class.size,
                class.cycle_type,
                orbits.len(),
                cover.blocks.blocks.len(),
                cover.blocks.blocks.iter().map(|b| b.weight as u64).sum::<u64>(),
                cover.firsts.len(),
                nodes[0],
                nodes[1]
            );
        }
        c
    }
    let t = Instant::now();
    let classes = crate::symmetry::conjugacy_classes(shape, true);
    println!("classes {} {:?}", classes.len(), t.elapsed());
    let mut times = [0.0; 4];
    let mut alive = 0;
    let mut total = crate::count::Exact::default();
    for (n, class) in classes.iter().enumerate().skip(1) {
        if let Ok(w) = std::env::var("ONLY") {
            if !w.split(',').any(|x| x.parse() == Ok(n)) {
                continue;
            }
        }
        let t = Instant::now();
        let orbits = orbits::CellOrbits::new(&class.representative);
        let may = orbits.may_be_covered();
        times[0] += t.elapsed().as_secs_f64();
        if !may {
            continue;
        }
        alive += 1;
        let c = if orbits.len() <= 64 {
            one::<u64>(class, &orbits, &mut times, most, n)
        } else {
            one::<u128>(class, &orbits, &mut times, most, n)
        };
        total = total.plus(&class.size.times(&c.into()));
    }
    println!("alive {alive} total {total} times {times:?}");
}
