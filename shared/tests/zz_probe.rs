//! probe
use shared::{count::{Gangster, gangster::two, two::two_classes}, grid::Shape};
fn cpu() -> f64 { let s = std::fs::read_to_string("/proc/self/stat").unwrap(); let f: Vec<&str> = s.rsplit(')').next().unwrap().split_whitespace().collect(); f[11].parse::<f64>().unwrap() / 100.0 }
#[test]
fn probe() {
    let l = two_classes(5); let c = cpu();
    for i in (0..355).step_by(20) { two::bands(&l[i].vectors); } println!("18 classes {}", cpu()-c);
    for shape in [0,1,2,3] {
    let c = cpu();
    let g = Gangster::new(Shape::COUNTED[shape]).unwrap();
    println!("new {}", cpu() - c);
    let counts: Vec<_> = (0..g.units()).map(|u| g.run_unit(u)).collect();
    println!("gangster {} {} cpu {:?}", Shape::COUNTED[shape], g.classes().total(&counts).unwrap(), cpu()-c);
    }
}
