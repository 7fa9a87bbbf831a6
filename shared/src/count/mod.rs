//! Counting complete grids.
//!
//! Three methods, from the fastest to the most credulous of nothing:
//!
//! - [`Gangster`]: from the numbers of bands with given column sets, class by class;
//! - [`Search`]: filling the rows below a band of each class, one by one;
//! - [`Audit`]: every choice of column sets, or every filling, by itself: no classes.
//!
//! Each is cut into units `0..units()` that can be computed in any order and anywhere. **Invariant:** `Gangster` and
//! `Search` share the enumeration of classes and no counting code.

pub mod audit;
pub mod bands;
pub mod classes;
pub mod compare;
pub mod exact;
pub mod fixed;
pub mod gangster;
pub mod nine;
pub mod search;
pub mod triples;
pub mod two;

pub use audit::{Audit, AuditCount, AuditError, AuditOf};
pub use classes::{ClassCount, Classes, ImpossibleCount};
pub use compare::Comparison;
pub use exact::{Exact, ParseExactError};
pub use fixed::{FixedGrids, FixedListing, Sample, SliceProgress, TooLarge};
pub use gangster::Gangster;
pub use search::{Search, UnitProgress};
