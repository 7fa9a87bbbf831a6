//! For `coordinator/fuzz`: records of the checkpoint from any bytes.

use super::{
    SpoolError, SpooledCommit,
    record::{Stored, StoredProgress, decode, encode, result_key},
};
use crate::store::Store;

/// A result, from key and value as they are stored.
///
/// # Errors
///
/// When they do not read.
pub fn result(store: &Store, key: &[u8], value: &[u8]) -> Result<SpooledCommit, SpoolError> {
    SpooledCommit::read(store, key, value)
}

/// Key and value of a result.
///
/// # Errors
///
/// When it does not encode.
pub fn stored(store: &Store, result: &SpooledCommit) -> Result<(Vec<u8>, Vec<u8>), SpoolError> {
    let SpooledCommit { ledger, job, range, digest, partial, busy_us } = result;
    let value = encode(store, &Stored { digest: *digest, partial, busy_us: *busy_us })?;
    Ok((result_key(*ledger, *job, range.start, range.end), value))
}

/// The progress of a unit, and it encoded again.
///
/// # Errors
///
/// When it does not read.
pub fn progress(store: &Store, value: &[u8]) -> Result<Vec<u8>, SpoolError> {
    encode(store, &decode::<StoredProgress<'_>>(store, "progress", value)?)
}
