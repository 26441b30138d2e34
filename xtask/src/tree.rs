//! Files of the repository, as input of the checks.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Files beyond this size are weighed, not read.
const MAX_READ_BYTES: u64 = 2_000_000;

/// One file: its size, and its text if it is one.
struct File {
    bytes: u64,
    text: Option<String>,
}

/// Every file that is, or is about to be, part of the repository, by its path with `/`.
pub struct Tree {
    files: BTreeMap<String, File>,
}

impl Tree {
    /// Reads what git tracks and what it would track if it were added: a fresh clone has the
    /// former, a checkout in work the latter too, and what git ignores is in neither.
    pub fn load(root: &Path) -> Result<Self, String> {
        let output = Command::new("git")
            .current_dir(root)
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .output()
            .map_err(|error| format!("git could not be started: {error}"))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("git ls-files failed: {}", message.trim()));
        }
        let mut files = BTreeMap::new();
        for path in String::from_utf8_lossy(&output.stdout).split_terminator('\0') {
            let full_path = root.join(path);
            // A path may be a file just removed, or a link; neither is ours to look into.
            let Ok(metadata) = std::fs::symlink_metadata(&full_path) else {
                continue;
            };
            if !metadata.is_file() {
                continue;
            }
            let text = if metadata.len() <= MAX_READ_BYTES {
                let bytes = std::fs::read(&full_path)
                    .map_err(|error| format!("cannot read {path}: {error}"))?;
                text_of(bytes)
            } else {
                None
            };
            let bytes = metadata.len();
            files.insert(path.to_owned(), File { bytes, text });
        }
        Ok(Self { files })
    }

    /// A synthetic tree of text files.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let file = |text: &str| File {
            bytes: text.len() as u64,
            text: Some(text.to_owned()),
        };
        Self {
            files: files
                .iter()
                .map(|(path, text)| ((*path).to_owned(), file(text)))
                .collect(),
        }
    }

    /// The same tree with one more file, known by its size alone.
    #[cfg(test)]
    pub fn with_sized(mut self, path: &str, bytes: u64) -> Self {
        self.files
            .insert(path.to_owned(), File { bytes, text: None });
        self
    }

    /// Paths of all files, in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Paths and sizes in bytes of all files, in order.
    pub fn sizes(&self) -> impl Iterator<Item = (&str, u64)> {
        self.files
            .iter()
            .map(|(path, file)| (path.as_str(), file.bytes))
    }

    /// Paths and contents of all text files, in order.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .filter_map(|(path, file)| Some((path.as_str(), file.text.as_deref()?)))
    }

    /// The text of one file; `None` if there is no such file or it is no text.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.text.as_deref()
    }

    /// Whether there is a file or a folder at this path; a trailing `/` asks for a folder.
    pub fn contains(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        let mut from_here = self.files.range(folder.clone()..);
        (!path.ends_with('/') && self.files.contains_key(path))
            || from_here
                .next()
                .is_some_and(|(found, _)| found.starts_with(&folder))
    }
}

/// Whether a path is a source file.
pub fn is_source(path: &str) -> bool {
    [".rs", ".py", ".sh", ".js", ".ts"]
        .iter()
        .any(|extension| path.ends_with(extension))
}

fn text_of(bytes: Vec<u8>) -> Option<String> {
    if bytes.contains(&0) {
        return None;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_are_found_and_nothing_else() {
        let tree = Tree::of(&[("a/b/c.rs", ""), ("a.rs", "")]);
        assert!(tree.contains("a.rs") && tree.contains("a/b/c.rs"));
        assert!(tree.contains("a") && tree.contains("a/") && tree.contains("a/b/"));
        assert!(!tree.contains("a/b/c"));
        assert!(!tree.contains("a.rs/"));
        assert!(!tree.contains("b"));
    }

    #[test]
    fn a_checkout_is_read_without_what_git_ignores() {
        let folder = std::env::temp_dir().join(format!("xtask-tree-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("kept")).expect("a folder");
        let write = |path: &str, bytes: &[u8]| {
            std::fs::write(folder.join(path), bytes).expect("a file");
        };
        write(".gitignore", b"ignored.txt\n");
        write("ignored.txt", b"x");
        write("kept/new.rs", b"fn main() {}\n");
        write("picture.bin", &[0, 1, 2]);
        let git = Command::new("git")
            .args(["init", "--quiet"])
            .current_dir(&folder)
            .status()
            .expect("git");
        assert!(git.success());
        let tree = Tree::load(&folder).expect("a tree");
        std::fs::remove_dir_all(&folder).expect("removed");
        let paths: Vec<&str> = tree.paths().collect();
        assert_eq!(paths, [".gitignore", "kept/new.rs", "picture.bin"]);
        assert_eq!(tree.text("kept/new.rs"), Some("fn main() {}\n"));
        assert_eq!(tree.text("picture.bin"), None);
        assert_eq!(tree.sizes().last(), Some(("picture.bin", 3)));
    }
}
