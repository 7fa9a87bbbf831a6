//! Rows of bits: some of many unavoidable sets, each of which has a column.
//!
//! A thousand columns are what a search for 17 clues of a grid with many puzzles needs: with half of them, most of its
//! time goes into sets that have none.

use std::ops::{BitAnd, BitOr, Not};

const WORDS: usize = 16;
/// Words that are looked at together.
pub(super) const CHUNK: usize = 4;
/// How many columns there are.
pub(super) const COLUMNS: usize = 64 * WORDS;

/// Some of the columns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Row([u64; WORDS]);

impl Row {
    pub(super) const NONE: Self = Self([0; WORDS]);

    /// Adds a column.
    pub(super) fn add(&mut self, column: usize) {
        self.0[column / 64] |= 1 << (column % 64);
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    /// The columns from 0 on, 64 a word and some words at once.
    #[inline(always)]
    pub(super) fn chunks(&self) -> &[[u64; CHUNK]] {
        self.0.as_chunks().0
    }

    /// The same to be changed.
    #[inline(always)]
    pub(super) fn chunks_mut(&mut self) -> &mut [[u64; CHUNK]] {
        self.0.as_chunks_mut().0
    }

    /// The first column.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<usize> {
        let word = self.0.iter().position(|&word| word != 0)?;
        Some(64 * word + self.0[word].trailing_zeros() as usize)
    }
}

impl BitAnd for Row {
    type Output = Self;

    #[inline(always)]
    fn bitand(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= other);
        self
    }
}

impl BitOr for Row {
    type Output = Self;

    #[inline(always)]
    fn bitor(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
        self
    }
}

impl Not for Row {
    type Output = Self;

    #[inline(always)]
    fn not(mut self) -> Self {
        self.0.iter_mut().for_each(|word| *word = !*word);
        self
    }
}
