fn main() {
    let a: Vec<String> = std::env::args().collect();
    shared::count::fixed::experiment(a[1].parse().unwrap(), 1 << 22);
}
