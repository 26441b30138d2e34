//! Reports of mesh construction: what was found, repaired or refused.

use crate::bounds::Bounds;
use std::error::Error;
use std::fmt;

/// What a mesh is like, and what was mended on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshReport {
    /// Vertices of the mesh as it is used.
    pub vertices: usize,
    /// Triangles of the mesh as it is used, those that close holes included.
    pub triangles: usize,
    /// Vertices that were the same as another one, and became it.
    pub merged_vertices: usize,
    /// Faces without area, which were dropped.
    pub degenerate_faces: usize,
    /// Sides of faces without a neighbour.
    pub open_edges: usize,
    /// Sides that more than two faces share.
    pub non_manifold_edges: usize,
    /// Holes that were closed.
    pub closed_holes: usize,
    /// Area that was added to close them, as a share of all.
    pub closed_share: f64,
    /// Faces turned round because they disagreed with their neighbours.
    pub turned_faces: usize,
    /// Parts that connected faces make.
    pub components: usize,
    /// Parts that were inside out, and were turned round as a whole.
    pub turned_components: usize,
    /// Parts that are hollows within others.
    pub cavities: usize,
    /// Share of the surface that lies inside other parts of the mesh, by a sample: above zero, the mesh overlaps
    /// itself.
    pub buried_share: f64,
    /// What is inside, in cubic metres; what is inside twice counts twice.
    pub volume: f64,
    /// All of the surface, in square metres.
    pub area: f64,
    /// The box around it.
    pub bounds: Bounds<3>,
    /// The least distance found between two sides that face away from each other, by a sample of the surface.
    pub thickness: Option<f64>,
}

impl MeshReport {
    /// What the owner of the mesh should know, a sentence each; none if the mesh is as it should be.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let mut tell = |count: usize, one: &str, many: &str, then: &str| match count {
            0 => {}
            1 => warnings.push(format!("1 {one} {then}")),
            _ => warnings.push(format!("{count} {many} {then}")),
        };
        tell(
            self.degenerate_faces,
            "face has",
            "faces have",
            "no area: dropped",
        );
        tell(
            self.open_edges,
            "edge is",
            "edges are",
            "open: the holes were closed",
        );
        tell(
            self.non_manifold_edges,
            "edge is",
            "edges are",
            "shared by more than two faces",
        );
        tell(
            self.turned_faces,
            "face was",
            "faces were",
            "turned the wrong way round: turned back",
        );
        tell(
            self.turned_components,
            "part was",
            "parts were",
            "inside out: turned round",
        );
        if self.buried_share > 0.0 {
            warnings.push(format!(
                "about {:.0} % of the surface lies inside other parts of the mesh: distances inside fall short there",
                (100.0 * self.buried_share).max(1.0)
            ));
        }
        warnings
    }

    /// The width of cells that would hold the thinnest feature with two of them, if cells of width `dx` do not.
    pub fn finer_than(&self, dx: f64) -> Option<f64> {
        self.thickness
            .map(|thickness| 0.5 * thickness)
            .filter(|&needed| needed < dx)
    }
}

/// Why triangles don't make a solid.
#[derive(Clone, Debug, PartialEq)]
pub enum MeshError {
    /// More than can be handled.
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A coordinate that is infinite or not a number.
    NotFinite {
        /// Of this vertex, counted from zero.
        vertex: usize,
    },
    /// A coordinate beyond [`FARTHEST`](super::FARTHEST).
    TooFar {
        /// Of this vertex, counted from zero.
        vertex: usize,
        /// The coordinate.
        value: f64,
    },
    /// A face with a vertex that is not there.
    NoSuchVertex {
        /// The face, counted from zero.
        face: usize,
        /// The index of its vertex, counted from zero.
        index: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// No face with any area.
    NoFaces {
        /// Faces that were dropped because they have none.
        degenerate: usize,
    },
    /// Holes too wide to be closed: a sheet rather than a solid.
    Open {
        /// Sides of faces without a neighbour.
        open_edges: usize,
        /// What closing the holes would add to the surface, as a share of it.
        share: f64,
    },
    /// A closed surface around nothing.
    NoInside,
}

impl fmt::Display for MeshError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany { what, count, limit } => {
                write!(
                    f,
                    "{count} {what} are more than the {limit} that can be handled"
                )
            }
            Self::NotFinite { vertex } => {
                write!(
                    f,
                    "vertex {} has a coordinate that is not finite",
                    vertex + 1
                )
            }
            Self::TooFar { vertex, value } => write!(
                f,
                "vertex {} has the coordinate {value:e}, more than {:e} m from the origin",
                vertex + 1,
                super::FARTHEST
            ),
            Self::NoSuchVertex {
                face,
                index,
                vertices,
            } => write!(
                f,
                "face {} refers to vertex {}, but there are {vertices}",
                face + 1,
                u64::from(*index) + 1
            ),
            Self::NoFaces { degenerate: 0 } => write!(f, "there are no faces"),
            Self::NoFaces { degenerate } => {
                write!(
                    f,
                    "there are no faces with any area, only {degenerate} without"
                )
            }
            Self::Open { open_edges, share } => write!(
                f,
                "the surface is wide open: {open_edges} open edges, and closing them would take {:.0} % of its area",
                100.0 * share
            ),
            Self::NoInside => write!(f, "the surface encloses no volume"),
        }
    }
}

impl MeshError {
    /// What the owner of the mesh can do.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::TooMany { .. } => "simplify the mesh before it is exported",
            Self::NotFinite { .. } => "repair the vertex, or export the mesh again",
            Self::TooFar { .. } => {
                "check the units of the mesh, or repair the vertex: coordinates are metres"
            }
            Self::NoSuchVertex { .. } => "the file is damaged: export the mesh again",
            Self::NoFaces { .. } => "export a mesh with faces, not points or lines alone",
            Self::Open { .. } => {
                "close the holes in a modelling program, or give the sheet a thickness (solidify), then export again"
            }
            Self::NoInside => "give the sheet a thickness (solidify), then export again",
        }
    }
}

impl Error for MeshError {}
