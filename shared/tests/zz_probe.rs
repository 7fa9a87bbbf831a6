//! probe
use shared::{count::{Audit, AuditOf, Comparison, Gangster, Search, UnitProgress}, grid::Shape};
#[test]
fn probe() {
  for round in 0..2 {
    let start = std::time::Instant::now();
    let g = if round == 0 {Gangster::new(Shape::COUNTED[4]).unwrap()} else {Gangster::new(Shape::COUNTED[4]).unwrap()};
    let counts: Vec<_> = (0..44).map(|u| g.run_unit(u)).collect();
    println!("gangster 3x3 {:?} {}", start.elapsed(), g.classes().total(&counts).unwrap());
  }
    for shape in [Shape::COUNTED[0],Shape::COUNTED[1],Shape::COUNTED[2],Shape::COUNTED[4]] {
    let start = std::time::Instant::now();
    let s = Search::new(shape).unwrap();
    let mut counts: Vec<shared::count::ClassCount> = vec![];
    for u in 0..s.units() {
        let c = s.run_unit(u, UnitProgress::default(), &mut |_| false).unwrap();
        if u % s.choices() == 0 { counts.push(c); } else { counts.last_mut().unwrap().completions += c.completions; }
    }
    println!("search {shape} {:?} {}", start.elapsed(), s.classes().total(&counts).unwrap());
    }

    for shape in Shape::COUNTED { let start = std::time::Instant::now(); let c = Comparison::new(shape); println!("{shape} {:?} {:?}", start.elapsed(), c.three_table_minimum.scientific(5)); }
    for shape in [Shape::COUNTED[0],Shape::COUNTED[1],Shape::COUNTED[2],Shape::COUNTED[4]] {
    let start = std::time::Instant::now();
    let a = Audit::new(shape, AuditOf::ColumnSets).unwrap();
    let mut all = vec![];
    for u in 0..a.units() { all.extend(a.run_unit(u, UnitProgress::default(), &mut |_| false).unwrap()); }
    let all = shared::count::audit::gather(all).unwrap();
    println!("audit {shape} {:?} {} distinct {}", start.elapsed(), a.total(&all), all.len());
    }
}
