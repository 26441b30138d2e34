//! Commands about the folder of a run.

use super::arguments::FolderArguments;
use crate::error::Error;

/// x
pub fn status(_arguments: &FolderArguments) -> Result<(), Error> {
    Ok(())
}
/// x
pub fn verify(_arguments: &FolderArguments) -> Result<(), Error> {
    Ok(())
}
