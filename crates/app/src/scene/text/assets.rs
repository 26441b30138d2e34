use super::problem::Problem;
use super::tree::Node;
use std::path::Path;
/// x
pub struct Assets;
impl Assets {
    pub fn built_in() -> Self {
        Assets
    }
    pub fn in_folder(_: &Path, _: bool) -> Self {
        Assets
    }
    pub fn warnings(&self) -> &[Problem] {
        &[]
    }
    pub fn put_hashes(&self, _: &mut Node) {}
}
impl super::read::Reader<'_> {
    pub fn mesh<const D: usize>(
        &mut self,
        _: &Node,
        _: &str,
        _: super::problem::Place,
    ) -> Option<meniscus_shapes::Shape<D>> {
        None
    }
}
