//! Names of surfaces, pictures, exports and problems in the folder of a run, by which those of replaced frames are
//! recognised.

/// Surfaces of frames.
pub mod surfaces {
    use crate::cache;
    use crate::error::Error;
    use std::path::{Path, PathBuf};

    /// Folder of the surfaces inside a run's folder.
    pub const FOLDER: &str = "surfaces";
    /// Name of the statistics beside the surfaces of a run: JSON, one line per frame.
    pub const STATS: &str = "stats.jsonl";

    /// Path of the surface of a frame inside a run's folder.
    pub fn path(run: &Path, number: u32) -> PathBuf {
        run.join(FOLDER).join(format!("surface_{number:06}.msf"))
    }

    /// Frame number in the name of a surface's file; `None` for any other name.
    pub fn frame_number(file_name: &str) -> Option<u32> {
        cache::numbered(file_name, "surface_", ".msf")
    }

    /// Numbers of the frames that have a surface in a run's folder, in ascending order.
    ///
    /// # Errors
    /// If the folder exists and can't be read.
    pub fn frames_in(run: &Path) -> Result<Vec<u32>, Error> {
        cache::numbers_in(&run.join(FOLDER), frame_number)
    }
}

/// Pictures and films of a run, apart from the preview that the run itself writes.
pub mod pictures {
    use crate::cache;

    /// Folder of the pictures inside a run's folder.
    pub const FOLDER: &str = "preview";
    /// Film as GIF.
    pub const GIF: &str = "preview.gif";
    /// Film as MP4.
    pub const MP4: &str = "preview.mp4";
    /// Names of the films.
    pub const FILMS: [&str; 2] = [GIF, MP4];

    /// File name of a frame's picture.
    pub fn picture_name(frame: u32) -> String {
        format!("preview_{frame:06}.png")
    }

    /// Frame number in the name of a picture; `None` for any other name.
    pub fn frame_number(file_name: &str) -> Option<u32> {
        cache::numbered(file_name, "preview_", ".png")
    }
}

/// Exports to formats of other programs.
pub mod exports {
    use crate::cache;
    use std::path::{Path, PathBuf};

    /// Folder of the exports inside a run's folder.
    pub const FOLDER: &str = "export";
    /// Names of layers: folders of files, one file per frame.
    pub const LAYERS: [&str; 4] = ["particles", "surface", "volume", "bodies"];
    /// Name of the folder and extension of the files of each format.
    pub const FORMATS: [(&str, &str); 7] = [
        ("ply", "ply"),
        ("obj", "obj"),
        ("vtk", "vtp"),
        ("usd", "usdc"),
        ("vdb", "vdb"),
        ("bgeo", "bgeo"),
        ("npz", "npz"),
    ];
    /// File that holds all frames of a run.
    pub const ALL_FRAMES: &str = "meniscus.usdc";

    /// Folders of exports that a run's folder may have.
    pub fn folders(run: &Path) -> Vec<PathBuf> {
        let mut all = vec![run.join(FOLDER)];
        for (format, _) in FORMATS {
            let of_format = run.join(FOLDER).join(format);
            all.extend(LAYERS.map(|layer| of_format.join(layer)));
            all.push(of_format);
        }
        all
    }

    /// Frame number in the name of an exported file; `None` for any other name.
    pub fn frame_number(file_name: &str) -> Option<u32> {
        let (stem, extension) = file_name.split_once('.')?;
        let known = FORMATS.iter().any(|(_, known)| *known == extension);
        let of_layer = |layer: &str| cache::numbered(stem, &format!("{layer}_"), "");
        LAYERS.into_iter().find_map(of_layer).filter(|_| known)
    }

    /// Whether a name is that of an exported file of many frames.
    pub fn holds_many(file_name: &str) -> bool {
        let series = |layer: &str| file_name == format!("{layer}.vtp.series");
        LAYERS.into_iter().any(series) || file_name == ALL_FRAMES
    }
}

/// The pressure problem, or the contact problem, of a step that failed.
pub mod problems {
    /// Folder inside a run's folder.
    pub const FOLDER: &str = "failed";
    /// Files of a problem.
    pub const NAMES: [&str; 8] = [
        "A.mtx",
        "b.mtx",
        "lower.mtx",
        "upper.mtx",
        "grid.json",
        "start.mtx",
        "friction.json",
        "coupling.json",
    ];
}

#[cfg(test)]
mod tests {
    use super::exports::{frame_number, holds_many};

    #[test]
    fn only_our_own_names_are_exports() {
        assert_eq!(frame_number("particles_000012.ply"), Some(12));
        assert_eq!(frame_number("surface_000001.vtp"), Some(1));
        assert_eq!(frame_number("volume_000007.vdb"), Some(7));
        assert_eq!(frame_number("bodies_000003.obj"), Some(3));
        for other in [
            "particles_12.ply",
            "surface_000001.txt",
            "cat.ply",
            "surface_000001.bgeo.gz",
        ] {
            assert_eq!(frame_number(other), None, "{other}");
        }
        assert!(holds_many("surface.vtp.series") && holds_many("meniscus.usdc"));
        assert!(!holds_many("other.usdc"));
    }
}
