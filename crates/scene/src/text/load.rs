//! Loading of scenes by name, path or text.

use super::assets::Assets;
use super::defaults::filled;
use super::keys::SCENE;
use super::objects::{Reader, solver_fits_walls};
use super::overrides::{self, Override};
use super::problem::{Blame, Place, Problem, Source};
use super::tree::{Node, parse, put_table};
use super::validate::Validator;
use super::{body_problems, cloth, projective, renamed_keys, viscosity, warnings, write};
use crate::dimension::either;
use crate::{AnyScene, Scene, builtin};
use meniscus_store::OpenedRun;
use meniscus_store::error::{Error, Kind};
use meniscus_store::mesh_copies::MeshSource;
use meniscus_store::{regular_file, run_folder};
use std::io::ErrorKind;
use std::path::Path;

/// Largest scene file in bytes; what needs more should be a mesh.
const LARGEST_FILE: u64 = 4 << 20;
/// Most problems that are shown.
const MOST_SHOWN: usize = 20;

/// A loaded scene file.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The text, for showing problems in it.
    pub source: Source,
    /// Errors and warnings.
    pub problems: Vec<Problem>,
    /// The scene, if there are no errors.
    pub scene: Option<AnyScene>,
    /// The scene as TOML with all defaults; empty if there are errors.
    pub complete: String,
    /// Mesh files that it refers to, each once.
    pub meshes: Vec<MeshSource>,
}

impl Loaded {
    /// The scene and its complete text.
    ///
    /// # Errors
    /// All errors, each with its line.
    pub fn ready(self) -> Result<(AnyScene, String), Error> {
        match self.scene {
            Some(scene) => Ok((scene, self.complete)),
            None => Err(self.error()),
        }
    }

    /// All errors, each with its line.
    fn error(&self) -> Error {
        let errors: Vec<&Problem> = self.problems.iter().filter(|p| p.is_error()).collect();
        // The scene itself is in order only if all errors are those of other files.
        let kind = if errors.is_empty() || errors.iter().any(|p| p.blame == Blame::Scene) {
            Kind::Usage
        } else if errors.iter().any(|p| p.blame == Blame::Storage) {
            Kind::Storage
        } else {
            Kind::Asset
        };
        Error::drawn(kind, self.draw(&errors))
    }

    /// All warnings, each with its line; empty if there are none.
    pub fn warnings(&self) -> String {
        let warnings: Vec<&Problem> = self.problems.iter().filter(|p| !p.is_error()).collect();
        self.draw(&warnings)
    }

    fn draw(&self, problems: &[&Problem]) -> String {
        let colours = std::io::IsTerminal::is_terminal(&std::io::stderr())
            && std::env::var_os("NO_COLOR").is_none();
        let mut drawn: Vec<String> = problems
            .iter()
            .take(MOST_SHOWN)
            .map(|problem| self.source.draw(problem, colours))
            .collect();
        if problems.len() > MOST_SHOWN {
            drawn.push(format!("... and {} more", problems.len() - MOST_SHOWN));
        }
        drawn.join("\n\n")
    }
}

/// Loads a scene by the name of a built-in one or by the path of a file. `outside` allows its meshes to be anywhere.
///
/// # Errors
/// If there is no such scene, or its file can't be read. Errors in its text are in the result.
pub fn load(
    name: impl AsRef<Path>,
    overrides: &[Override],
    outside: bool,
) -> Result<Loaded, Error> {
    let path = name.as_ref();
    let shown = path.to_string_lossy();
    let looks_like_a_path = shown.contains('/') || shown.ends_with(".toml");
    if !looks_like_a_path && let Some(scene) = builtin::text(&shown) {
        let assets = Assets::built_in();
        return Ok(load_text(&shown, scene, &shown, overrides, assets));
    }
    if !looks_like_a_path && !path.exists() {
        return Err(builtin::unknown(&shown));
    }
    let text = read_file(path)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let assets = Assets::in_folder(folder, outside);
    Ok(load_text(&shown, &text, &name_of(path), overrides, assets))
}

/// Loads the scene in the folder of a run. Its meshes are the copies in that folder; missing or damaged ones come from `assets`, the folder of the scene's own file, or from the program.
pub fn load_kept(path: &Path, text: &str, assets: Option<&Path>) -> Loaded {
    load_kept_with(path, text, &[], assets)
}

/// As [`load_kept`], with some keys changed.
pub fn load_kept_with(
    path: &Path,
    text: &str,
    overrides: &[Override],
    assets: Option<&Path>,
) -> Loaded {
    let run = path.parent().unwrap_or(Path::new("."));
    let shown = path.to_string_lossy();
    let assets = Assets::of_run(run, assets);
    load_text(&shown, text, "scene", overrides, assets)
}

/// Loads the scene of a run. `assets` is the folder of the scene's own file: runs of earlier versions have no copies of
/// their meshes.
///
/// # Errors
/// If the scene in the folder is damaged, or its meshes are missing.
pub fn load_run(run: &OpenedRun, assets: Option<&Path>) -> Result<AnyScene, Error> {
    let (path, text) = run.scene_text()?;
    let (scene, _) = load_kept(&path, &text, assets).ready().map_err(|e| {
        if e.kind() == Kind::Asset && assets.is_none() {
            e.with_remedy(
                "name the folder of the scene's file, where its meshes are, with --assets DIR",
            )
        } else {
            e
        }
    })?;
    Ok(scene)
}

/// Loads a scene from text; the only files it can refer to are built-in ones.
pub fn load_alone(text: &str) -> Loaded {
    load_text("scene", text, "scene", &[], Assets::built_in())
}

/// Loads a scene from a text that is in no file. Meshes are looked for in `folder`, or, without one, among the built-in
/// ones only. `source` is its name in messages, `name` that of the scene if the text has none.
pub fn load_from(
    source: &str,
    text: &str,
    name: &str,
    overrides: &[Override],
    folder: Option<&Path>,
    outside: bool,
) -> Loaded {
    let assets = match folder {
        Some(folder) => Assets::in_folder(folder, outside),
        None => Assets::built_in(),
    };
    load_text(source, text, &plain_name(name), overrides, assets)
}

/// Loads a scene from its text.
pub(super) fn load_text(
    source: &str,
    text: &str,
    default_name: &str,
    overrides: &[Override],
    mut assets: Assets,
) -> Loaded {
    let source = Source {
        name: source.into(),
        text: text.into(),
        overrides: overrides.to_vec(),
    };
    let (mut root, mut problems) = parse(text);
    if !problems.is_empty() {
        // After a syntax error the rest is guesswork.
        return Loaded {
            source,
            problems,
            scene: None,
            complete: String::new(),
            meshes: Vec::new(),
        };
    }
    problems.extend(renamed_keys::rename(&mut root));
    let mut overrides = overrides.to_vec();
    problems.extend(renamed_keys::rename_overrides(&mut overrides));
    problems.extend(overrides::apply(&mut root, &overrides));
    let dimension = dimension(&root);
    let mut structure = Validator {
        dimension,
        problems,
    };
    structure.table(&root, Place::File(0, 0), &SCENE, "", 0);
    // A scene with bodies has the settings of their contacts, and of liquid around them, in its complete text.
    if root.get("body").is_some() && root.get("contact").is_none() {
        put_table(&mut root, "contact");
    }
    let has_liquid = root.get("liquid").is_some() || root.get("emitter").is_some();
    if root.get("body").is_some() && has_liquid && root.get("coupling").is_none() {
        put_table(&mut root, "coupling");
    }
    let is_projective = root.get("method").and_then(Node::text) == Some("projective");
    if is_projective && root.get("projective").is_none() {
        put_table(&mut root, "projective");
    }
    let mut whole = filled(&root, &SCENE, dimension);
    viscosity::complete(&mut whole, &mut structure.problems);
    let mut reader = Reader {
        problems: structure.problems,
        assets: &mut assets,
    };
    let mut scene = reader.scene(&whole, dimension, default_name);
    if let Some(scene) = &mut scene {
        either!(scene, scene => scene.fit_cells_to_spacing());
    }
    let scene = scene.filter(|scene| either!(scene, scene => is_sound(&mut reader, scene, &whole)));
    let problems = reader.problems;
    if is_projective {
        projective::remove_grid_keys(&mut whole);
    }
    let complete = match &scene {
        Some(scene) => complete(whole, scene.name(), &assets),
        None => String::new(),
    };
    Loaded {
        source,
        problems,
        scene,
        complete,
        meshes: assets.sources(),
    }
}

/// Whether a scene has no errors; adds errors and warnings.
fn is_sound<const D: usize>(reader: &mut Reader<'_>, scene: &Scene<D>, root: &Node) -> bool {
    let before = reader.problems.len();
    reader.problems.extend(solver_fits_walls(scene, root));
    reader.problems.extend(viscosity::errors(scene, root));
    reader.problems.extend(body_problems::errors(scene, root));
    reader.problems.extend(projective::errors(scene, root));
    reader.problems.extend(cloth::errors(scene, root));
    if reader.problems.len() == before
        && let Err(fault) = scene.check()
    {
        let place = root.get("name").map_or(Place::Nowhere, |name| name.place);
        reader
            .problems
            .push(Problem::error(place, "", fault.message()));
    }
    if reader.problems.iter().any(Problem::is_error) {
        return false;
    }
    let found = warnings::find(scene, root, reader.assets);
    reader.problems.extend(found);
    true
}

fn complete(mut root: Node, name: &str, assets: &Assets) -> String {
    super::tree::put_first(&mut root, "name", name);
    assets.put_hashes(&mut root);
    let text = write::write(&root, &SCENE);
    format!("# Every key of this run, defaults included.\n{text}")
}

/// Number of sides of the domain. Default: 3.
fn dimension(root: &Node) -> usize {
    let size = root.get("domain").and_then(|domain| domain.get("size"));
    match size.map(|size| size.list().len()) {
        Some(2) => 2,
        _ => 3,
    }
}

/// Name of a scene from that of its file.
fn name_of(path: &Path) -> String {
    plain_name(&path.file_stem().unwrap_or_default().to_string_lossy())
}

/// A name with only characters that are safe in file names.
pub fn plain_name(stem: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' || c == '_' {
            c
        } else {
            '-'
        }
    };
    let name: String = stem.chars().map(plain).take(100).collect();
    if name.is_empty() {
        "scene".into()
    } else {
        name
    }
}

fn read_file(path: &Path) -> Result<String, Error> {
    let shown = path.display();
    let bytes = regular_file::read_up_to(path, LARGEST_FILE).map_err(|e| match e.kind() {
        ErrorKind::NotFound => Error::usage(format!("there is no file {shown}")).with_remedy(
            "`meniscus scenes` lists the built-in scenes, `meniscus init` writes a file",
        ),
        // A pipe or device may never end.
        ErrorKind::InvalidInput => {
            let error = Error::usage(format!("{shown} is not a regular file"));
            let kept = path.join(run_folder::SCENE);
            if kept.is_file() {
                let kept = kept.display();
                error.with_remedy(format!("it is the folder of a run, whose scene is {kept}"))
            } else {
                error
            }
        }
        ErrorKind::FileTooLarge => {
            let size = std::fs::metadata(path).map_or(0, |data| data.len());
            let (size, limit) = (size.div_ceil(1 << 20), LARGEST_FILE >> 20);
            Error::usage(format!(
                "{shown} has {size} MB, a scene may have {limit} MB"
            ))
        }
        _ => Error::usage(format!("could not read {shown}: {e}")),
    })?;
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        Error::usage(format!(
            "{shown} is not UTF-8 text: byte {at} fits no character"
        ))
    })
}
