//! When a search ends before its time.

/// Steps between two looks at whether to stop: some milliseconds to tenths of a second.
const ASK_EVERY: u32 = 4096;

/// Whether a search has to end as it stands, what it found being dropped: because somebody asks for it, or because there
/// are more puzzles than a list can hold. Within a block, for blocks of many clues may take longer than anybody waits.
pub(super) struct Stop<'a> {
    asked: &'a dyn Fn() -> bool,
    steps: u32,
    stopped: bool,
    /// Puzzles that there is room for.
    room: usize,
}

impl<'a> Stop<'a> {
    pub(super) fn new(asked: &'a dyn Fn() -> bool) -> Self {
        Self { asked, steps: 0, stopped: false, room: 0 }
    }

    /// Sets how many puzzles may be found from here on.
    pub(super) fn leave_room(&mut self, puzzles: usize) {
        self.room = puzzles;
    }

    /// Takes a step, and tells whether it is the last one.
    #[inline(always)]
    pub(super) fn at_step(&mut self, found: usize) -> bool {
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(ASK_EVERY) {
            self.stopped = self.stopped || (self.asked)();
        }
        self.stopped || self.is_full(found)
    }

    /// Whether that many puzzles are too many.
    #[inline(always)]
    pub(super) fn is_full(&self, found: usize) -> bool {
        found > self.room
    }

    /// Whether it was asked to stop.
    pub(super) fn stopped(&self) -> bool {
        self.stopped
    }
}
