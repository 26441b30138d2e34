//! Files that a scene refers to: inside its folder, read once, identified by their hashes.

use super::objects::Reader;
use super::problem::{Place, Problem};
use super::tree::{Entry, Node, Value};
use super::values::{number, text};
use crate::ClothMesh;
use crate::builtin;
use crate::mesh_files::{self, Faces, Format, Limits};
use meniscus_shapes::{Shape, TriangleMesh};
use meniscus_store::mesh_copies::{self, Copy, MeshSource, Origin};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The files of a scene, and the meshes read from them.
#[derive(Debug)]
pub struct Assets {
    /// The scene's folder; none for built-in scenes, whose files are in the program.
    folder: Option<PathBuf>,
    /// Whether files may be anywhere.
    outside: bool,
    /// The folder of a run, which has copies of the files whose hashes its scene names.
    run: Option<PathBuf>,
    /// Whether the folder of the originals is known, in case copies are damaged.
    has_originals: bool,
    meshes: Vec<Mesh>,
    /// Files of cloth.
    sheets: Vec<Sheet>,
    warnings: Vec<Problem>,
}

/// A file that was read.
#[derive(Clone, Debug)]
struct Known {
    file: String,
    scale: f64,
    up: String,
    hash: String,
    format: Format,
    origin: Origin,
}

impl Known {
    fn is_of(&self, node: &Node) -> bool {
        self.file == text(node, "file")
            && self.scale == number(node, "scale")
            && self.up == text(node, "up")
    }
}

/// A mesh of cloth that was read.
#[derive(Clone, Debug)]
struct Sheet {
    known: Known,
    mesh: ClothMesh,
}

/// A mesh that was read.
#[derive(Clone, Debug)]
struct Mesh {
    known: Known,
    mesh: Arc<TriangleMesh>,
    /// Edges of the file's mesh without a neighbour; the holes are closed.
    open_edges: usize,
}

/// An error in a file, with a remedy.
struct Fault {
    message: String,
    help: String,
    /// Whether it is a damaged file of a run.
    storage: bool,
}

impl Fault {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Fault {
            message: message.into(),
            help: help.into(),
            storage: false,
        }
    }
}

impl Assets {
    /// Built-in files.
    pub fn built_in() -> Self {
        Assets {
            folder: None,
            outside: false,
            run: None,
            has_originals: false,
            meshes: Vec::new(),
            sheets: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Files in the folder of a scene, or anywhere if `outside` is set.
    pub fn in_folder(folder: &Path, outside: bool) -> Self {
        let here = folder.as_os_str().is_empty();
        let folder: PathBuf = if here { ".".into() } else { folder.into() };
        Assets {
            // The scene may be that of a run.
            run: Some(folder.clone()),
            folder: Some(folder),
            outside,
            ..Assets::built_in()
        }
    }

    /// Files of a run: copies in its folder, or the originals in another one.
    pub fn of_run(run: &Path, originals: Option<&Path>) -> Self {
        Assets {
            run: Some(run.into()),
            has_originals: originals.is_some(),
            // The run itself was allowed to read them, and their hashes are checked.
            ..Assets::in_folder(originals.unwrap_or(run), true)
        }
    }

    /// The files that were read, each once.
    pub fn sources(&self) -> Vec<MeshSource> {
        let mut sources: Vec<MeshSource> = Vec::new();
        for file in self.files() {
            let known =
                |source: &MeshSource| source.hash == file.hash && source.format == file.format;
            if !sources.iter().any(known) {
                sources.push(MeshSource {
                    hash: file.hash.clone(),
                    format: file.format,
                    origin: file.origin.clone(),
                });
            }
        }
        sources
    }

    fn files(&self) -> impl Iterator<Item = &Known> {
        let sheets = self.sheets.iter().map(|sheet| &sheet.known);
        self.meshes.iter().map(|mesh| &mesh.known).chain(sheets)
    }

    /// Edges of a mesh's file without a neighbour.
    fn open_edges(&self, mesh: &Arc<TriangleMesh>) -> usize {
        let same = |known: &&Mesh| Arc::ptr_eq(&known.mesh, mesh);
        let known = self.meshes.iter().find(same);
        known.map_or(0, |known| known.open_edges)
    }

    /// Warnings about the files.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// Writes into a tree the hash of every file that was read.
    pub fn put_hashes(&self, node: &mut Node) {
        match &mut node.value {
            Value::List(parts) => parts.iter_mut().for_each(|part| self.put_hashes(part)),
            Value::Table(entries) => {
                for entry in entries {
                    if entry.key == "mesh" {
                        self.put_hash(&mut entry.node);
                    }
                    self.put_hashes(&mut entry.node);
                }
            }
            _ => {}
        }
    }

    fn put_hash(&self, mesh: &mut Node) {
        let file = text(mesh, "file").to_string();
        let read = self.files().find(|known| known.file == file);
        let (Some(read), Value::Table(entries)) = (read, &mut mesh.value) else {
            return;
        };
        entries.retain(|entry| entry.key != "hash");
        entries.push(Entry {
            key: "hash".into(),
            key_place: Place::Nowhere,
            node: Node::unwritten(Value::Text(read.hash.clone())),
        });
    }

    fn mesh(&mut self, node: &Node, path: &str, place: Place) -> Result<Arc<TriangleMesh>, Fault> {
        if let Some(read) = self.meshes.iter().find(|mesh| mesh.known.is_of(node)) {
            return Ok(read.mesh.clone());
        }
        let (raw, known) = self.faces(node)?;
        let file = &known.file;
        let (mesh, report) = TriangleMesh::new(&raw.vertices, &raw.triangles)
            .map_err(|e| Fault::new(format!("{file}: {e}"), e.remedy()))?;
        for warning in report.warnings() {
            self.warnings
                .push(Problem::warning(place, path, format!("{file}: {warning}")).of_asset());
        }
        let mesh = Arc::new(mesh);
        self.meshes.push(Mesh {
            known,
            mesh: mesh.clone(),
            open_edges: report.open_edges,
        });
        Ok(mesh)
    }

    /// The mesh of cloth that a table describes: the faces of the file as they are.
    fn sheet(&mut self, node: &Node) -> Result<ClothMesh, Fault> {
        if let Some(read) = self.sheets.iter().find(|sheet| sheet.known.is_of(node)) {
            return Ok(read.mesh.clone());
        }
        let (raw, known) = self.faces(node)?;
        if raw.triangles.is_empty() {
            return Err(Fault::new(
                format!("{}: there are no faces", known.file),
                "export a mesh with faces, not points or lines alone",
            ));
        }
        let mesh = ClothMesh::new(raw);
        self.sheets.push(Sheet {
            known,
            mesh: mesh.clone(),
        });
        Ok(mesh)
    }

    /// The faces of the file that a table names, upright and in metres.
    fn faces(&self, node: &Node) -> Result<(Faces, Known), Fault> {
        let (file, up) = (text(node, "file"), text(node, "up"));
        let scale = number(node, "scale");
        let format = Format::of(Path::new(file));
        let wanted = text(node, "hash");
        let (bytes, origin) = self.bytes(file, format, wanted)?;
        let hash = blake3::hash(&bytes).to_hex().to_string();
        if !wanted.is_empty() && wanted != hash {
            return Err(Fault::new(
                format!("{file} is not the file it was: its hash is {hash}"),
                "bring back the old file, or remove the hash",
            ));
        }
        let format = format.ok_or_else(|| {
            Fault::new(
                format!("{file} does not end in .obj, .ply or .stl"),
                "save it as OBJ, PLY or STL",
            )
        })?;
        let mut raw = mesh_files::parse(format, &bytes, &Limits::default())
            .map_err(|e| Fault::new(format!("{file}: {e}"), "save the mesh again, or repair it"))?;
        for x in &mut raw.vertices {
            let [a, b, c] = *x;
            let upright = if up == "y" { [a, -c, b] } else { *x };
            *x = upright.map(|c| scale * c);
        }
        let known = Known {
            file: file.into(),
            scale,
            up: up.into(),
            hash,
            format,
            origin,
        };
        Ok((raw, known))
    }

    /// Content and origin of a file. A copy in the folder of a run comes first: it is the file that the run was made
    /// with.
    fn bytes(
        &self,
        file: &str,
        format: Option<Format>,
        hash: &str,
    ) -> Result<(Vec<u8>, Origin), Fault> {
        if let (Some(run), Some(format), false) = (&self.run, format, hash.is_empty()) {
            let path = mesh_copies::path(run, hash, format);
            match mesh_copies::read(run, hash, format) {
                Copy::Sound(bytes) => return Ok((bytes, Origin::File(path))),
                Copy::Damaged if !self.has_originals => {
                    return Err(Fault {
                        storage: true,
                        ..Fault::new(
                            format!(
                                "{}, the copy of {file}, is damaged: its content does not match its hash",
                                path.display()
                            ),
                            "--resume with the original scene file writes it anew; --assets DIR, the folder of that file, does without it",
                        )
                    });
                }
                Copy::Damaged | Copy::Missing => {}
            }
        }
        let of_program = builtin::ASSETS.iter().find(|(name, _)| *name == file);
        let Some(folder) = &self.folder else {
            let (_, bytes) = of_program.ok_or_else(|| {
                Fault::new(format!("no file {file} comes with the program"), MISSING)
            })?;
            return Ok((bytes.to_vec(), Origin::Program(bytes)));
        };
        let path = folder.join(file);
        // The folder of a run of a built-in scene need not have its files.
        if let Some((_, bytes)) = of_program
            && !path.exists()
            && blake3::hash(bytes).to_hex().as_str() == hash
        {
            return Ok((bytes.to_vec(), Origin::Program(bytes)));
        }
        if !self.outside {
            stays_inside(folder, file)?;
        }
        let bytes = mesh_files::read_bytes(&path, &Limits::default())
            .map_err(|e| Fault::new(e.message(), e.remedy().unwrap_or(MISSING)))?;
        Ok((bytes, Origin::File(path)))
    }
}

const MISSING: &str = "paths are relative to the folder of the scene file";
const OUTSIDE: &str = "move it there, or allow it with --allow-outside-files";

/// Refuses paths that leave a folder, also by links.
fn stays_inside(folder: &Path, file: &str) -> Result<(), Fault> {
    let out = || Fault::new(format!("{file} is outside the scene's folder"), OUTSIDE);
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(file).components().all(plain) {
        return Err(out());
    }
    let Ok(home) = folder.canonicalize() else {
        return Ok(());
    };
    match folder.join(file).canonicalize() {
        Ok(real) if !real.starts_with(&home) => Err(out()),
        // A missing file is reported when it is read.
        _ => Ok(()),
    }
}

impl Reader<'_> {
    /// The mesh of cloth that a table describes.
    pub fn cloth_mesh(&mut self, node: &Node, path: &str) -> Option<ClothMesh> {
        let read = self.assets.sheet(node);
        read.map_err(|fault| self.report(fault, path, node.place))
            .ok()
    }

    fn report(&mut self, fault: Fault, path: &str, place: Place) {
        let problem = Problem::error(place, path, fault.message).with_help(fault.help);
        self.problems.push(match fault.storage {
            true => problem.of_storage(),
            false => problem.of_asset(),
        });
    }

    /// The mesh that a table describes.
    pub fn mesh<const D: usize>(
        &mut self,
        node: &Node,
        path: &str,
        place: Place,
    ) -> Option<Shape<D>> {
        if D != 3 {
            let message = "meshes need a scene with three dimensions";
            self.problems.push(Problem::error(place, path, message));
            return None;
        }
        match self.assets.mesh(node, path, place) {
            // What fills its holes has no meaning for the mass of a body.
            Ok(mesh) if path.starts_with("body[") && self.assets.open_edges(&mesh) > 0 => {
                let message = format!(
                    "{}: the mesh is open ({} edges have one face only), so the body has no mass",
                    text(node, "file"),
                    self.assets.open_edges(&mesh)
                );
                let problem = Problem::error(place, path, message).of_asset();
                self.problems
                    .push(problem.with_help("close the holes of the mesh in a modelling program"));
                None
            }
            Ok(mesh) => Some(Shape::Mesh(mesh)),
            Err(fault) => {
                self.report(fault, path, place);
                None
            }
        }
    }
}
