//! `exported.json`: frames of exported files whose names follow a pattern of the user.
//!
//! By it, `gc` and runs that replace frames recognise exports under any name; files with default names need no entry.

use crate::atomic_file;
use crate::error::Error;
use crate::regular_file;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Name of the file, inside the folder of a layer or of a format.
pub const NAME: &str = "exported.json";

/// Files of a folder that were exported under other names than the default.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct ExportList {
    /// Frame of the run by file name; `None` for a file of many frames.
    pub files: BTreeMap<String, Option<u32>>,
}

impl ExportList {
    /// The list of a folder; empty if there is none, or it is damaged.
    pub fn read(folder: &Path) -> Self {
        let bytes = regular_file::read(&folder.join(NAME)).unwrap_or_default();
        let mut list: ExportList = serde_json::from_slice(&bytes).unwrap_or_default();
        // Files are removed by this list: it must not name any outside the folder.
        list.files.retain(|name, _| is_file_name(name));
        list
    }

    /// Writes the list atomically.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let path = folder.join(NAME);
        let text =
            serde_json::to_string_pretty(self).map_err(|e| Error::io("write", &path, &e.into()))?;
        atomic_file::write(&path, text.as_bytes())
    }

    /// Whether a file is listed.
    pub fn lists(&self, file_name: &str) -> bool {
        self.files.contains_key(file_name)
    }

    /// The frame of a file of one frame.
    pub fn frame(&self, file_name: &str) -> Option<u32> {
        self.files.get(file_name).copied().flatten()
    }

    /// Whether a file is listed as one of many frames.
    pub fn holds_many(&self, file_name: &str) -> bool {
        self.files.get(file_name) == Some(&None)
    }
}

fn is_file_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_comes_back_and_names_nothing_outside_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(ExportList::read(folder.path()), ExportList::default());
        let mut list = ExportList::default();
        list.files.insert("drop.1001.obj".into(), Some(0));
        list.files.insert("drop.usdc".into(), None);
        let good = list.clone();
        list.files.insert("../scene.toml".into(), Some(1));
        list.write(folder.path()).unwrap();
        let read = ExportList::read(folder.path());
        assert_eq!(read, good);
        assert_eq!(read.frame("drop.1001.obj"), Some(0));
        assert!(read.holds_many("drop.usdc") && !read.holds_many("drop.1001.obj"));
        std::fs::write(folder.path().join(NAME), "{").unwrap();
        assert_eq!(ExportList::read(folder.path()), ExportList::default());
    }
}
