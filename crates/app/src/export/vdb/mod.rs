//! OpenVDB files: the signed distance as `surface` and the velocity as `velocity`, with voxels of the size of the
//! simulation's cells. Version 224 of the format, values of active voxels only, without further compression.

mod tree;

pub use tree::Tree;

use std::io::{self, Seek, SeekFrom, Write};
use tree::Voxel;

const VERSION: u32 = 224;
const LIBRARY: [u32; 2] = [10, 0];
/// Active-mask compression only.
const ACTIVE_VALUES_ONLY: u32 = 2;

/// Seekable writer.
pub trait Output: Write + Seek {}
impl<W: Write + Seek> Output for W {}

/// Grids of a frame. Voxel `v` is centred at `origin + width v`.
pub struct Volume {
    /// Signed distance to the liquid in metres.
    pub distance: Tree<f32>,
    /// Velocity in metres per second.
    pub velocity: Tree<[f32; 3]>,
    /// Centre of voxel 0.
    pub origin: [f64; 3],
    /// Width of a voxel in metres.
    pub width: f64,
    /// Simulated time in seconds.
    pub time: f64,
}

impl Volume {
    /// Writes the file. The same volume gives the same bytes.
    pub fn write(&self, out: &mut dyn Output) -> io::Result<()> {
        out.write_all(&0x5644_4220u64.to_le_bytes())?;
        numbers(out, &[VERSION, LIBRARY[0], LIBRARY[1]])?;
        // Grid offsets follow, and an id that should be unique but need not be.
        out.write_all(&[1])?;
        out.write_all(b"6d656e69-7363-4000-8000-757300000000")?;
        let creator = concat!("meniscus ", env!("CARGO_PKG_VERSION"));
        metadata(out, &[("creator", Value::Text(creator))])?;
        numbers(out, &[2])?;
        self.grid(out, "surface", Some("level set"), &self.distance)?;
        self.grid(out, "velocity", None, &self.velocity)
    }

    fn grid<T: Voxel>(
        &self,
        out: &mut dyn Output,
        name: &str,
        class: Option<&str>,
        tree: &Tree<T>,
    ) -> io::Result<()> {
        for word in [name, T::GRID, ""] {
            text(out, word)?;
        }
        let offsets = out.stream_position()?;
        out.write_all(&[0; 24])?;
        let start = out.stream_position()?;
        numbers(out, &[ACTIVE_VALUES_ONLY])?;
        let mut about = vec![
            ("name", Value::Text(name)),
            ("time", Value::Float(self.time as f32)),
            ("file_compression", Value::Text("active values")),
            ("file_bbox_min", Value::Voxel(tree.low)),
            ("file_bbox_max", Value::Voxel(tree.high)),
            ("file_voxel_count", Value::Long(tree.count as i64)),
            ("file_mem_bytes", Value::Long(tree.memory() as i64)),
        ];
        about.extend(class.map(|class| ("class", Value::Text(class))));
        metadata(out, &about)?;
        self.transform(out)?;
        tree.write_topology(out)?;
        let blocks = out.stream_position()?;
        tree.write_buffers(out)?;
        let end = out.stream_position()?;
        out.seek(SeekFrom::Start(offsets))?;
        for place in [start, blocks, end] {
            out.write_all(&place.to_le_bytes())?;
        }
        out.seek(SeekFrom::Start(end)).map(|_| ())
    }

    /// Transform from voxels to metres, with its derived quantities.
    fn transform(&self, out: &mut dyn Output) -> io::Result<()> {
        text(out, "UniformScaleTranslateMap")?;
        let w = self.width;
        let same = [w, w, 1.0 / w, 1.0 / (w * w), 0.5 / w].map(|x| [x; 3]);
        for vector in std::iter::once(self.origin).chain(same) {
            for x in vector {
                out.write_all(&x.to_le_bytes())?;
            }
        }
        Ok(())
    }
}

enum Value<'a> {
    Text(&'a str),
    Float(f32),
    Voxel([i32; 3]),
    Long(i64),
}

fn metadata(out: &mut dyn Output, entries: &[(&str, Value<'_>)]) -> io::Result<()> {
    numbers(out, &[entries.len() as u32])?;
    for (name, value) in entries {
        text(out, name)?;
        let (kind, bytes): (&str, Vec<u8>) = match value {
            Value::Text(words) => ("string", words.as_bytes().into()),
            Value::Float(x) => ("float", x.to_le_bytes().into()),
            Value::Voxel(v) => ("vec3i", v.iter().flat_map(|c| c.to_le_bytes()).collect()),
            Value::Long(n) => ("int64", n.to_le_bytes().into()),
        };
        text(out, kind)?;
        numbers(out, &[bytes.len() as u32])?;
        out.write_all(&bytes)?;
    }
    Ok(())
}

fn text(out: &mut dyn Output, words: &str) -> io::Result<()> {
    numbers(out, &[words.len() as u32])?;
    out.write_all(words.as_bytes())
}

fn numbers(out: &mut dyn Output, numbers: &[u32]) -> io::Result<()> {
    numbers
        .iter()
        .try_for_each(|n| out.write_all(&n.to_le_bytes()))
}
