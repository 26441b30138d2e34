//! Tests of reading scene files.

mod cloth;
mod hostile_bodies;
mod viscosity;

use super::assets::Assets;
use super::grammar::{Absent, Kind, Table};
use super::keys::SCENE;
use super::problem::{Place, Severity};
use super::tree::{Entry, Node, Value, parse_value};
use super::validate::Validator;
use super::{Loaded, Override, load, load_text};
use crate::builtin;

fn check(text: &str) -> Loaded {
    load_text("test.toml", text, "test", &[], Assets::built_in())
}

/// Asserts that the first problem is at this line and column and says this.
fn complains(text: &str, line: usize, column: usize, what: &str) {
    let loaded = check(text);
    let problem = loaded
        .problems
        .first()
        .unwrap_or_else(|| panic!("no problem in\n{text}"));
    let at = loaded.source.line_and_column(problem.place);
    let said = format!(
        "{}: {} / {}",
        problem.path,
        problem.message,
        problem.help.as_deref().unwrap_or("")
    );
    assert_eq!(at, Some((line, column)), "{said}\n{text}");
    assert!(said.contains(what), "{said}\ninstead of {what}");
    assert!(loaded.scene.is_none() || problem.severity == Severity::Warning);
}

/// Rows of a table of cases, one per line.
macro_rules! cases {
    ($($text:literal => $line:literal, $column:literal, $what:literal;)*) => {
        [$(($text, $line, $column, $what)),*]
    };
}

const POOL: &str = "[domain]\nsize = [1, 1, 1]\n[[liquid]]\nshape = { sphere = { center = [0.5, 0.5, 0.5], radius = 0.2 } }\n";

#[test]
fn problems_have_line_and_column_and_a_suggestion() {
    for (text, line, column, what) in cases![
        "" => 1, 1, "`domain` is missing";
        "[domain\n" => 1, 8, "not TOML";
        "[domain]\nsize = [1, 1, 1]\nresolutoin = 3\n" => 3, 1, "did you mean `resolution`?";
        "[domain]\nsize = [1, 1, 1]\nresolution = \"many\"\n" => 3, 14, "must be a whole number, this is text";
        "[domain]\nsize = [1, 1, 1]\nresolution = 0\n" => 3, 14, "from 1 to 65536";
        "[domain]\nsize = [1, -1, 1]\n" => 2, 12, "has -1, it must be above 0";
        "[domain]\nsize = [1]\n" => 2, 8, "two or three";
        "gravity = [0, nan, 0]\n[domain]\nsize = [1, 1, 1]\n" => 1, 15, "finite";
        "gravity = [0, -9.81]\n[domain]\nsize = [1, 1, 1]\n" => 1, 11, "has 2 numbers, but the domain has 3 sides";
        "[domain]\nsize = [1, 1, 1]\n[walls]\nkind = \"slipp\"\n" => 4, 8, "did you mean \"slip\"?";
        "[domain]\nsize = [1, 1, 1]\n[time]\nrate = inf\n" => 4, 8, "is inf, it must be";
        "[domain]\nsize = [1, 1, 1]\n[liquid]\nvelocity = [0, 0, 0]\n" => 3, 1, "write [[liquid]] above its keys";
        "[domain]\nsize = [1, 1, 1]\n[[liquid]]\nshape = { sphere = { center = [0, 0, 0] } }\n" => 4, 11, "`radius` is missing";
        "[domain]\nsize = [1, 1, 1]\n[[solid]]\nshape = { box = { low = [1, 0, 0], high = [0, 1, 1] } }\n" => 4, 17, "low (1) must be less than high (0)";
        "[domain]\nsize = [1, 1]\nopen = [\"front\"]\n" => 3, 9, "a scene in 2D has no side";
        "[domain]\nsize = [1, 1, 1]\n[[liquid]]\nshape = { sphere = { radius = 0.1 }, box = { low = [0, 0, 0], high = [1, 1, 1] } }\n" => 4, 38, "both `sphere` and `box`";
        "name = \"a/b\"\n[domain]\nsize = [1, 1, 1]\n[[liquid]]\nshape = { sphere = { radius = 0.5 } }\n" => 1, 8, "name must be letters";
    ] {
        complains(text, line, column, what);
    }
}

#[test]
fn all_problems_are_reported_at_once() {
    let text = "grvity = [0, 0, 0]\n[domain]\nsize = [1, 1, 1]\nresolution = 1.5\n[[solid]]\nshape = { sphere = { radius = -1 } }\n\
                [[solid]]\nshape = { box = { low = [1, 1, 1], high = [0, 0, 0] } }\nkeyframes = [{ time = 1 }, { time = 0 }]\n";
    let loaded = check(text);
    assert_eq!(loaded.problems.len(), 5, "{:#?}", loaded.problems);
    assert!(loaded.scene.is_none());
}

#[test]
fn keyframes_are_checked_where_they_are_written() {
    let solid = |keys: &str| {
        format!("{POOL}[[solid]]\nshape = {{ sphere = {{ radius = 0.2 }} }}\nkeyframes = {keys}\n")
    };
    complains(&solid("[{ time = 1 }, { time = 0.5 }]"), 7, 28, "");
    complains(
        &solid("[{ time = 1, frame = 3 }]"),
        7,
        26,
        "both `time` and `frame`",
    );
    complains(
        &solid("[{ position = [0, 0, 0] }]"),
        7,
        14,
        "write one of time, frame",
    );
    complains(
        &solid("[{ time = 0, rotation = { degrees = 3 } }]"),
        7,
        37,
        "`axis` is missing",
    );
}

#[test]
fn a_rendered_problem_shows_the_line_and_the_help() {
    let loaded = check("[domain]\nsize = [1, 1, 1]\nresolutoin = 3\n");
    let drawn = loaded.source.draw(&loaded.problems[0], false);
    for part in [
        "test.toml:3:1",
        "resolutoin = 3",
        "^^^^^^^^^^",
        "did you mean `resolution`?",
    ] {
        assert!(drawn.contains(part), "{part} is not in\n{drawn}");
    }
}

#[test]
fn overrides_replace_keys_and_are_named_in_messages() {
    let overrides = |texts: &[&str]| -> Vec<Override> {
        texts
            .iter()
            .map(|text| Override::parse(text).unwrap())
            .collect()
    };
    let load = |texts: &[&str]| {
        load_text(
            "test.toml",
            POOL,
            "test",
            &overrides(texts),
            Assets::built_in(),
        )
    };
    let (scene, text) = load(&[
        "domain.resolution=24",
        "walls.kind=slip",
        "liquid[1].shape.sphere.radius=0.3",
        "gravity=[0,0,-1.62]",
    ])
    .ready()
    .unwrap();
    assert_eq!(scene.resolution(), 24);
    assert!(text.contains("kind = \"slip\"") && text.contains("radius = 0.3"));
    for (change, what) in [
        ("domain.resolution=many", "must be a whole number"),
        ("liquid[2].velocity=[0,0,0]", "there are only 1"),
        ("wals.kind=slip", "did you mean `walls`?"),
        ("liquid[0].shape=1", "counted from 1"),
    ] {
        let error = load(&[change]).ready().unwrap_err().to_string();
        assert!(error.contains(what) && error.contains(change), "{error}");
    }
    assert!(Override::parse("domain.resolution").is_err());
}

#[test]
fn the_complete_text_reads_back_as_the_same_scene() {
    for (name, _) in builtin::TEXTS {
        let (scene, complete) = load(name, &[], false).unwrap().ready().unwrap();
        let assets = Assets::built_in();
        let again = load_text("scene.toml", &complete, "other", &[], assets);
        let (same, text) = again.ready().unwrap();
        assert_eq!(scene, same);
        assert_eq!(complete, text);
    }
}

#[test]
fn a_started_scene_is_the_scene_it_started_from() {
    for (name, text) in builtin::TEXTS {
        let started = super::starter(text, name);
        let (scene, _) = load_text("x.toml", &started, "x", &[], Assets::built_in())
            .ready()
            .unwrap();
        assert_eq!(scene, builtin::named(name).unwrap());
    }
}

#[test]
fn implausible_scenes_have_a_warning_with_a_remedy() {
    let warned = |text: &str, what: &str| {
        let loaded = check(text);
        let said = loaded.warnings();
        assert!(loaded.scene.is_some() && said.contains(what), "{said}");
    };
    let plate = "[[solid]]\nshape = { box = { low = [0, 0, 0.1], high = [1, 1, 0.11] } }\n";
    warned(
        &format!("{POOL}{plate}"),
        "domain.resolution = 200 holds it",
    );
    let cup = "[[solid]]\nshape = { difference = [\n\
               { cylinder = { from = [0.5, 0.5, 0.1], to = [0.5, 0.5, 0.9], radius = 0.4 } },\n\
               { cylinder = { from = [0.5, 0.5, 0.12], to = [0.5, 0.5, 1], radius = 0.38 } } ] }\n";
    warned(&format!("{POOL}{cup}"), "thin, less than two cells");
    warned(
        &format!("{POOL}[solver]\ntolerance = 5\n"),
        "500 % of its volume",
    );
    let away = "[[solid]]\nshape = { sphere = { center = [5, 0, 0], radius = 0.3 } }\n";
    warned(&format!("{POOL}{away}"), "outside the domain");
    let ball = "[[solid]]\nshape = { sphere = { center = [0.5, 0.5, 0.6], radius = 0.2 } }\n";
    warned(&format!("{POOL}{ball}"), "overlaps solids");
    let over = "[[solid]]\nshape = { box = { low = [0, 0, 0], high = [1, 1, 1] } }\n";
    warned(&format!("{POOL}{over}"), "completely inside solids");
    let jet = "[[emitter]]\nshape = { sphere = { center = [0.5, 0.5, 0.8], radius = 0.1 } }\nvelocity = [0, 0, -1e6]\n";
    warned(&format!("{POOL}{jet}"), "not physical");
    let jet = jet.replace("-1e6", "-2e3");
    warned(&format!("{POOL}{jet}"), "every frame will take about");
    let slow = |low: f64| {
        format!(
            "[[emitter]]\nshape = {{ box = {{ low = [0.4, 0.4, {low}], high = [0.6, 0.6, {}] }} }}\nvelocity = [0, 0, -1]\n",
            low + 0.1
        )
    };
    let block = "[[solid]]\nshape = { box = { low = [0, 0, 0.7], high = [1, 1, 1] } }\n";
    warned(&format!("{POOL}{block}{}", slow(0.8)), "it emits no liquid");
    warned(
        &format!("{POOL}{block}{}", slow(0.65)),
        "50 % of it emit no liquid",
    );
    let open = check(&format!("{POOL}{block}{}", slow(0.55)));
    assert!(!open.warnings().contains("emitter"), "{}", open.warnings());
    let drop = "[domain]\nsize = [0.02, 0.02, 0.02]\n[[liquid]]\n\
                shape = { sphere = { center = [0.01, 0.01, 0.014], radius = 0.0025 } }\n";
    warned(drop, "surface tension, which is not simulated");
    warned(drop, "2.709 mm");
    let large = check(
        &drop
            .replace("0.02, 0.02, 0.02", "0.2, 0.2, 0.2")
            .replace("0.0025", "0.02"),
    );
    assert!(
        !large.warnings().contains("surface tension"),
        "{}",
        large.warnings()
    );
}

#[test]
fn malicious_texts_are_refused_quickly() {
    let nested = format!(
        "{POOL}[[solid]]\nshape = {}{}\n",
        "{ union = [".repeat(60),
        "] }".repeat(60)
    );
    assert!(check(&nested).scene.is_none());
    let deep = format!("{POOL}[[solid]]\nshape = {}", "[".repeat(100_000));
    assert!(check(&deep).scene.is_none());
    let many = format!(
        "{POOL}{}",
        "[[solid]]\nshape = { sphere = { radius = 0.1 } }\n".repeat(20_000)
    );
    let loaded = check(&many);
    assert!(
        loaded.problems[0].message.contains("at most"),
        "{:?}",
        loaded.problems
    );
    for text in [
        "\u{feff}",
        "=",
        "[[",
        "a.b.c.d = 1",
        "x = 2020-01-01",
        "[domain]\nsize = [9999999999999999999999, 1]",
    ] {
        assert!(check(text).scene.is_none(), "{text}");
    }
}

/// Every table of the grammar, once.
fn each_table(
    table: &'static Table,
    seen: &mut Vec<*const Table>,
    found: &mut Vec<&'static Table>,
) {
    if seen.contains(&std::ptr::from_ref(table)) {
        return;
    }
    seen.push(table);
    found.push(table);
    for key in table.keys {
        if let Kind::Table(inner) | Kind::Tables(inner, _) = key.kind {
            each_table(inner, seen, found);
        }
    }
}

#[test]
fn every_default_and_example_of_the_grammar_fits_it() {
    let mut tables = Vec::new();
    each_table(&SCENE, &mut Vec::new(), &mut tables);
    for table in tables {
        for key in table.keys {
            let fits = |value: Value, dimension: usize| {
                let entry = Entry {
                    key: key.name.into(),
                    key_place: Place::Nowhere,
                    node: Node::unwritten(value),
                };
                let mut structure = Validator {
                    dimension,
                    problems: Vec::new(),
                };
                let alone = Node::unwritten(Value::Table(vec![entry]));
                structure.table(&alone, Place::Nowhere, table, "", 0);
                let own = |p: &&super::problem::Problem| p.path.starts_with(key.name);
                let problem = structure.problems.iter().find(own);
                assert!(problem.is_none(), "{}: {problem:?}", key.name);
            };
            for dimension in [2, 3] {
                let default = key.default_value(dimension);
                let absent = matches!(key.binding.absent, Absent::Refused | Absent::Nothing);
                assert_eq!(default.is_none(), absent, "{}", key.name);
                default.into_iter().for_each(|value| fits(value, dimension));
            }
            if !key.example.is_empty() {
                fits(parse_value(key.example, Place::Nowhere).unwrap().value, 3);
            }
        }
        for name in table.one_of {
            assert!(table.keys.iter().any(|key| key.name == *name), "{name}");
        }
    }
}

#[test]
fn keys_that_are_bound_to_the_scene_read_back_what_they_set() {
    let mut tables = Vec::new();
    each_table(&SCENE, &mut Vec::new(), &mut tables);
    let mut checked = 0;
    for key in tables.iter().flat_map(|table| table.keys) {
        // The share of PIC is kept with FLIP only, open sides as pairs of switches.
        let is_special = matches!(key.name, "pic" | "open");
        let (Absent::SceneDefault, false) = (key.binding.absent, is_special) else {
            continue;
        };
        let access = key.binding.access.unwrap();
        let mut scene = crate::AnyScene::new(3, "test");
        let node = parse_value(key.example, Place::Nowhere).unwrap();
        let mut reader = super::objects::Reader {
            problems: Vec::new(),
            assets: &mut Assets::built_in(),
        };
        (access.set)(&mut scene, &node, &mut reader);
        let found = Node::unwritten((access.get)(&scene));
        let numbers = |node: &Node| node.list().iter().map(Node::number).collect::<Vec<_>>();
        let same = match node.number() {
            Some(x) => found.number() == Some(x),
            None if !node.list().is_empty() => numbers(&found) == numbers(&node),
            None => found.value == node.value,
        };
        assert!(same, "{}: {found:?}", key.name);
        assert_ne!(Some(node.value), key.default_value(3), "{}", key.name);
        checked += 1;
    }
    assert!(checked > 35, "{checked}");
}

#[test]
fn the_reference_in_the_documentation_is_that_of_the_grammar() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scene.md");
    let page = std::fs::read_to_string(path).unwrap();
    assert!(
        page == super::markdown(),
        "write docs/scene.md again with `meniscus schema --markdown`"
    );
}

/// Whether a text fits the JSON schema.
fn fits_the_schema(text: &str) -> bool {
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler
        .add_resource("scene.json", super::schema())
        .expect("the schema is JSON");
    let index = compiler
        .compile("scene.json", &mut schemas)
        .expect("the schema is one");
    let (tree, problems) = super::tree::parse(text);
    assert!(problems.is_empty(), "{problems:?}");
    schemas
        .validate(&super::schema::plain(&tree.value), index)
        .is_ok()
}

#[test]
fn schema_and_reader_accept_and_refuse_the_same_texts() {
    for (name, text) in builtin::TEXTS {
        assert!(fits_the_schema(text), "{name}");
        let (_, complete) = load(name, &[], false).unwrap().ready().unwrap();
        assert!(fits_the_schema(&complete), "{name}, complete");
    }
    for (good, bad) in [
        ("radius = 0.2", "radius = 0"),
        ("radius = 0.2", "raduis = 0.2"),
        ("size = [1, 1, 1]", "size = [1, 1, 1]\nresolution = 1.5"),
        ("size = [1, 1, 1]", "size = [1]"),
        ("size = [1, 1, 1]", "size = [1, 1, 1]\nopen = [\"up\"]"),
        (
            "center = [0.5, 0.5, 0.5], radius = 0.2 }",
            "radius = 0.2 }, box = { low = [0, 0, 0], high = [1, 1, 1] }",
        ),
        ("shape", "velocity = [0, 0, 0] #"),
    ] {
        assert!(fits_the_schema(POOL) && check(POOL).scene.is_some());
        let text = POOL.replacen(good, bad, 1);
        assert_ne!(text, POOL);
        assert!(
            !fits_the_schema(&text) && check(&text).scene.is_none(),
            "{text}"
        );
    }
}

#[test]
fn an_old_name_of_a_key_works_and_the_new_one_is_named() {
    let text = "[domain]\nsize = [1, 1]\n[walls]\nkappa = 0.25\n[[liquid]]\nshape = { sphere = { center = [0.5, 0.5], radius = 0.2 } }\n";
    let by_file = crate::text::load_alone(text);
    let change = Override::parse("walls.kappa=0.25").unwrap();
    let plain = text.replace("kappa = 0.25", "separation_speed = 0.5");
    let by_flag = load_text(
        "scene",
        &plain,
        "scene",
        &[change],
        super::assets::Assets::built_in(),
    );
    for loaded in [by_file, by_flag] {
        assert!(loaded.warnings().contains("separation_speed"));
        assert!(loaded.complete.contains("separation_speed = 0.25"));
        assert!(!loaded.complete.contains("kappa"));
    }
    let both = text.replace("kappa", "separation_speed = 0.1\nkappa");
    assert!(crate::text::load_alone(&both).scene.is_none());
}

#[test]
fn defaults_of_the_grammar_are_those_of_the_simulation() {
    fn assert_same<const D: usize>(read: &crate::Scene<D>) {
        let usual = crate::Scene::new(&read.name, "", read.domain, 64);
        assert_eq!(read.settings(), usual.settings());
        assert_eq!(
            (read.frames, read.frame_rate),
            (usual.frames, usual.frame_rate)
        );
        assert_eq!((&read.output, &read.limits), (&usual.output, &usual.limits));
    }
    for size in ["[1, 2]", "[1, 2, 3]"] {
        let loaded = crate::text::load_alone(&format!(
            "[domain]\nsize = {size}\n[[liquid]]\nshape = {{ sphere = {{ center = {size}, radius = 0.9 }} }}\n"
        ));
        match loaded.scene.as_ref().unwrap() {
            crate::AnyScene::Two(scene) => assert_same(scene),
            crate::AnyScene::Three(scene) => assert_same(scene),
        }
    }
}
