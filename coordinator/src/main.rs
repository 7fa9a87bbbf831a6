//! `nonet`: sudoku mathematics too big for one sitting.

use std::process::ExitCode;

fn main() -> ExitCode {
    coordinator::cli::main()
}
