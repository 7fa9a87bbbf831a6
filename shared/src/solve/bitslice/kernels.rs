//! The kernels, compiled for each instruction set.

use super::{
    Answer, cells,
    choice::{self, Open},
    parse::{self, Digits},
    record::{self, Records},
    state::State,
    sweep,
    turn::{Classes, Turn},
    waiting::Waiting,
    word::{Portable, Word},
};

/// The parts of the engine that are compiled for an instruction set each.
pub trait Kernels {
    type W: Word;

    /// A sweep over the digits, and a look at the cells; `full` uses the full triads found last.
    fn sweep(s: &mut State<Self::W>, full: bool, downwards: bool);

    /// Finds full triads.
    fn full_triads(s: &mut State<Self::W>);

    /// Lanes that hold a solution.
    fn solved(s: &State<Self::W>) -> Self::W;

    /// Reads lanes from records and takes a first look at them.
    fn load(s: &mut State<Self::W>, records: &mut Records);

    /// Writes lanes to records, with where to branch.
    fn unload(s: &State<Self::W>, open: &mut Open<Self::W>, records: &mut Records);

    /// Writes the digits of solved lanes.
    fn show(s: &State<Self::W>, digits: &mut Digits);

    /// See [`Turn::branch`].
    fn branch(turn: &mut Turn, classes: &Classes, answers: &mut [Answer]);

    /// See [`Turn::finish_all`].
    fn finish_all(turn: &mut Turn, classes: &Classes, answers: &mut [Answer]);

    /// See [`Turn::feed`].
    fn feed(turn: &mut Turn, answers: &mut [Answer]);

    /// See [`Turn::feed_directly`]; then takes a first look at the lanes.
    fn feed_directly(
        turn: &mut Turn,
        puzzles: &[[u8; 81]],
        answers: &mut [Answer],
        s: &mut State<Self::W>,
        scratch: &mut State<Self::W>,
    );

    /// Reads the next puzzles.
    fn read(waiting: &mut Waiting, puzzles: &[[u8; 81]], scratch: &mut State<Self::W>);
}

#[inline(always)]
fn sweep<W: Word>(s: &mut State<W>, full: bool, downwards: bool) {
    if full {
        sweep::digits::<W, true>(s, downwards);
    } else {
        sweep::digits::<W, false>(s, downwards);
    }
    cells::cells(s);
}

#[inline(always)]
fn load<W: Word>(s: &mut State<W>, records: &mut Records) {
    record::load(s, records);
    s.dead = W::zero();
    cells::cells(s);
}

#[inline(always)]
fn unload<W: Word>(s: &State<W>, open: &mut Open<W>, records: &mut Records) {
    let spare = choice::choose(s, open);
    record::unload(s, &spare, records);
}

/// The kernels without any special instructions.
pub enum Plain {}

/// Kernels for `$word`, each compiled with the instruction sets `$features` (none for the plain ones).
macro_rules! kernels {
    ($kernels:ty, $word:ty, $module:ident $(, $features:literal)?) => {
        mod $module {
            #[allow(clippy::wildcard_imports)]
            use super::*;

            $(#[target_feature(enable = $features)])?
            pub fn sweep(s: &mut State<$word>, full: bool, downwards: bool) {
                super::sweep(s, full, downwards);
            }

            $(#[target_feature(enable = $features)])?
            pub fn full_triads(s: &mut State<$word>) {
                cells::full_triads(s);
            }

            $(#[target_feature(enable = $features)])?
            pub fn solved(s: &State<$word>) -> $word {
                cells::solved(s)
            }

            $(#[target_feature(enable = $features)])?
            pub fn load(s: &mut State<$word>, records: &mut Records) {
                super::load(s, records);
            }

            $(#[target_feature(enable = $features)])?
            pub fn unload(s: &State<$word>, open: &mut Open<$word>, records: &mut Records) {
                super::unload(s, open, records);
            }

            $(#[target_feature(enable = $features)])?
            pub fn show(s: &State<$word>, digits: &mut Digits) {
                parse::show(s, digits);
            }

            $(#[target_feature(enable = $features)])?
            pub fn branch(turn: &mut Turn, classes: &Classes, answers: &mut [Answer]) {
                turn.branch::<$word>(classes, answers);
            }

            $(#[target_feature(enable = $features)])?
            pub fn finish_all(turn: &mut Turn, classes: &Classes, answers: &mut [Answer]) {
                turn.finish_all::<$word>(classes, answers);
            }

            $(#[target_feature(enable = $features)])?
            pub fn feed_directly(
                turn: &mut Turn,
                puzzles: &[[u8; 81]],
                answers: &mut [Answer],
                s: &mut State<$word>,
                scratch: &mut State<$word>,
            ) {
                turn.feed_directly(puzzles, answers, s, scratch);
                cells::cells(s);
            }

            $(#[target_feature(enable = $features)])?
            pub fn feed(turn: &mut Turn, answers: &mut [Answer]) {
                turn.feed(answers);
            }

            $(#[target_feature(enable = $features)])?
            pub fn read(waiting: &mut Waiting, puzzles: &[[u8; 81]], scratch: &mut State<$word>) {
                waiting.read(puzzles, scratch);
            }
        }

        impl Kernels for $kernels {
            type W = $word;

            fn sweep(s: &mut State<$word>, full: bool, downwards: bool) {
                call!($module::sweep(s, full, downwards) $(, $features)?);
            }

            fn full_triads(s: &mut State<$word>) {
                call!($module::full_triads(s) $(, $features)?);
            }

            fn solved(s: &State<$word>) -> $word {
                call!($module::solved(s) $(, $features)?)
            }

            fn load(s: &mut State<$word>, records: &mut Records) {
                call!($module::load(s, records) $(, $features)?);
            }

            fn unload(s: &State<$word>, open: &mut Open<$word>, records: &mut Records) {
                call!($module::unload(s, open, records) $(, $features)?);
            }

            fn show(s: &State<$word>, digits: &mut Digits) {
                call!($module::show(s, digits) $(, $features)?);
            }

            fn branch(turn: &mut Turn, classes: &Classes, answers: &mut [Answer]) {
                call!($module::branch(turn, classes, answers) $(, $features)?);
            }

            fn finish_all(turn: &mut Turn, classes: &Classes, answers: &mut [Answer]) {
                call!($module::finish_all(turn, classes, answers) $(, $features)?);
            }

            fn feed_directly(
                turn: &mut Turn,
                puzzles: &[[u8; 81]],
                answers: &mut [Answer],
                s: &mut State<$word>,
                scratch: &mut State<$word>,
            ) {
                call!($module::feed_directly(turn, puzzles, answers, s, scratch) $(, $features)?);
            }

            fn feed(turn: &mut Turn, answers: &mut [Answer]) {
                call!($module::feed(turn, answers) $(, $features)?);
            }

            fn read(waiting: &mut Waiting, puzzles: &[[u8; 81]], scratch: &mut State<$word>) {
                call!($module::read(waiting, puzzles, scratch) $(, $features)?);
            }
        }
    };
}

/// A call of a kernel, unsafe where it needs instruction sets.
macro_rules! call {
    ($call:expr) => {
        $call
    };
    ($call:expr, $features:literal) => {{
        // SAFETY: engines of a level are made only after the processor said that it has these instruction sets
        // (`Level::is_available`), and nothing else gets at kernels.
        #[allow(unsafe_code)]
        unsafe {
            $call
        }
    }};
}

kernels!(Plain, Portable<2>, plain);

/// Plain kernels of other widths, so that tests see on every machine that nothing depends on the width.
#[cfg(test)]
pub enum Narrow {}

#[cfg(test)]
kernels!(Narrow, Portable<1>, narrow);

/// As many lanes as the widest vectors have.
#[cfg(test)]
pub enum Wide {}

#[cfg(test)]
kernels!(Wide, Portable<8>, wide);

#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    #[allow(clippy::wildcard_imports)]
    use super::*;
    use crate::solve::bitslice::x86::{W256, W512};

    /// The kernels with 256-bit vectors.
    pub enum Avx2 {}

    /// The kernels with 512-bit vectors.
    pub enum Avx512 {}

    kernels!(Avx2, W256, avx2, "avx2,bmi1,bmi2,popcnt,lzcnt");
    kernels!(Avx512, W512, avx512, "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt,lzcnt");
}
