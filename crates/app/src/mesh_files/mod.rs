//! TEMP
use std::path::Path;
/// x
pub const LARGEST: u64 = 1 << 30;
/// x
#[derive(Clone, Copy, Debug)]
pub enum Format {
    /// x
    Ply,
}
impl Format {
    /// x
    pub fn of(_: &Path) -> Result<Self, String> {
        Ok(Format::Ply)
    }
}
/// x
pub struct Raw {
    /// x
    pub vertices: Vec<[f64; 3]>,
    /// x
    pub triangles: Vec<[u32; 3]>,
}
/// x
pub fn parse(_: Format, _: &[u8]) -> Result<Raw, String> {
    Err("no".into())
}
