//! Sparse tree of OpenVDB: leaves of 8³ voxels in internal nodes of 16³ leaves in internal nodes of 32³ children.

use std::collections::BTreeMap;
use std::io::{self, Write};

/// Value type of a voxel.
pub trait Voxel: Copy + PartialEq {
    /// Name of the grid type.
    const GRID: &'static str;
    /// Background value.
    const LENGTH: usize;
    /// Writes the value.
    fn write(self, out: &mut dyn Write) -> io::Result<()>;
}

impl Voxel for f32 {
    const GRID: &'static str = "Tree_float_5_4_3";
    const LENGTH: usize = 4;
    fn write(self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.to_le_bytes())
    }
}

impl Voxel for [f32; 3] {
    const GRID: &'static str = "Tree_vec3s_5_4_3";
    const LENGTH: usize = 12;
    fn write(self, out: &mut dyn Write) -> io::Result<()> {
        self.iter()
            .try_for_each(|x| out.write_all(&x.to_le_bytes()))
    }
}

/// Log2 of the side of a leaf in voxels, of a lower node in leaves, of an upper node in lower nodes.
const LEAF: u32 = 3;
const LOWER: u32 = 4;
const UPPER: u32 = 5;

/// Bit mask, least significant bit first.
#[derive(Clone)]
struct Mask(Vec<u8>);

impl Mask {
    fn new(log_side: u32) -> Self {
        Mask(vec![0; 1 << (3 * log_side - 3)])
    }
    fn set(&mut self, bit: usize) {
        self.0[bit / 8] |= 1 << (bit % 8);
    }
    fn has(&self, bit: usize) -> bool {
        self.0[bit / 8] >> (bit % 8) & 1 == 1
    }
}

/// Leaf node. Inactive voxels have the background value.
struct Leaf<T> {
    active: Mask,
    values: Vec<T>,
}

/// Children of a node by their offset, which is the order of the file.
struct Node<C> {
    children: BTreeMap<usize, C>,
}

type Lower<T> = Node<Leaf<T>>;
type Upper<T> = Node<Lower<T>>;

/// Grid of voxels around the liquid.
pub struct Tree<T> {
    background: T,
    /// Leaves by their lowest voxel.
    roots: BTreeMap<[i32; 3], Upper<T>>,
    /// Number of active voxels.
    pub count: u64,
    /// Lower corner of the bounding box of active voxels.
    pub low: [i32; 3],
    /// Upper corner of the bounding box of active voxels.
    pub high: [i32; 3],
}

/// Offset of a voxel or child in a node whose children have side `below`: the last axis varies fastest.
fn place(voxel: [i32; 3], below: u32, log_side: u32) -> usize {
    let part = |a: usize| (voxel[a] >> below) as usize & ((1 << log_side) - 1);
    (part(0) << (2 * log_side)) | (part(1) << log_side) | part(2)
}

impl<T: Voxel> Tree<T> {
    /// Creates an empty grid.
    pub fn new(background: T) -> Self {
        Tree {
            background,
            roots: BTreeMap::new(),
            count: 0,
            low: [i32::MAX; 3],
            high: [i32::MIN; 3],
        }
    }

    /// Activates a voxel. Each voxel may be set once.
    pub fn set(&mut self, voxel: [i32; 3], value: T) {
        let root = voxel.map(|c| c >> (LEAF + LOWER + UPPER) << (LEAF + LOWER + UPPER));
        let upper = self.roots.entry(root).or_default();
        let at = place(voxel, LEAF + LOWER, UPPER);
        let lower = upper.children.entry(at).or_default();
        let at = place(voxel, LEAF, LOWER);
        let leaf = lower.children.entry(at).or_insert_with(|| Leaf {
            active: Mask::new(LEAF),
            values: vec![self.background; 1 << (3 * LEAF)],
        });
        let at = place(voxel, 0, LEAF);
        leaf.active.set(at);
        leaf.values[at] = value;
        self.count += 1;
        for a in 0..3 {
            self.low[a] = self.low[a].min(voxel[a]);
            self.high[a] = self.high[a].max(voxel[a]);
        }
    }

    /// Bytes of the leaves in memory, for readers that check before loading.
    pub fn memory(&self) -> u64 {
        let leaves = self
            .roots
            .values()
            .flat_map(|upper| upper.children.values());
        let leaves: usize = leaves.map(|lower| lower.children.len()).sum();
        (leaves * (512 * T::LENGTH + 64)) as u64
    }

    /// Writes the topology.
    pub fn write_topology(&self, out: &mut dyn Write) -> io::Result<()> {
        // One buffer of values.
        out.write_all(&1u32.to_le_bytes())?;
        self.background.write(out)?;
        out.write_all(&0u32.to_le_bytes())?;
        out.write_all(&(self.roots.len() as u32).to_le_bytes())?;
        for (origin, upper) in &self.roots {
            for c in origin {
                out.write_all(&c.to_le_bytes())?;
            }
            upper.write_masks(out, UPPER)?;
            for lower in upper.children.values() {
                lower.write_masks(out, LOWER)?;
                for leaf in lower.children.values() {
                    out.write_all(&leaf.active.0)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the values of all leaves.
    pub fn write_buffers(&self, out: &mut dyn Write) -> io::Result<()> {
        let uppers = self
            .roots
            .values()
            .flat_map(|upper| upper.children.values());
        for leaf in uppers.flat_map(|lower| lower.children.values()) {
            out.write_all(&leaf.active.0)?;
            out.write_all(&[INACTIVE_ARE_BACKGROUND])?;
            for at in (0..leaf.values.len()).filter(|&at| leaf.active.has(at)) {
                leaf.values[at].write(out)?;
            }
        }
        Ok(())
    }
}

/// Only the values of active voxels follow.
const INACTIVE_ARE_BACKGROUND: u8 = 0;

impl<C> Default for Node<C> {
    fn default() -> Self {
        Node {
            children: BTreeMap::new(),
        }
    }
}

impl<C> Node<C> {
    /// Writes the child mask, and an empty value mask.
    fn write_masks(&self, out: &mut dyn Write, log_side: u32) -> io::Result<()> {
        let mut children = Mask::new(log_side);
        self.children.keys().for_each(|&at| children.set(at));
        out.write_all(&children.0)?;
        out.write_all(&Mask::new(log_side).0)?;
        out.write_all(&[INACTIVE_ARE_BACKGROUND])
    }
}
