//! Numbers, times of birth and sources of particles.

use std::collections::HashMap;

use meniscus_liquid::{Attributes, Drain, Emitter, Liquid, Settings, Sources};
use meniscus_shapes::{Shape, Solids};

use super::common::{run, tank};

/// A pool with an emitter above it and a drain in a corner.
fn pool(attributes: bool) -> (Liquid<2>, Solids<2>) {
    let settings = Settings {
        attributes,
        ..Settings::new([24; 2], 1.0 / 24.0)
    };
    let solids = tank(&settings);
    let mut liquid = Liquid::new(settings).unwrap();
    liquid.fill(&|x| x[1] - 0.3, &|_| [0.0; 2], &solids);
    liquid.set_sources(ports());
    (liquid, solids)
}

fn ports() -> Sources<2> {
    let all = 0.0..f64::INFINITY;
    let (low, high) = ([0.4, 0.7], [0.6, 0.8]);
    let corner = Shape::Box {
        low: [0.9, 0.0],
        high: [1.0, 0.1],
    };
    Sources {
        materials: Vec::new(),
        emitters: vec![Emitter {
            shape: Shape::Box { low, high },
            velocity: [0.0, -1.0],
            active: all.clone(),
        }],
        drains: vec![Drain {
            shape: corner,
            active: all,
        }],
    }
}

fn kept(liquid: &Liquid<2>) -> &Attributes {
    liquid.particles().attributes.as_ref().unwrap()
}

fn saved(liquid: &Liquid<2>) -> Vec<u8> {
    let state = liquid.state();
    let mut bytes = Vec::new();
    state.write(&mut bytes).unwrap();
    assert_eq!(bytes.len(), state.len());
    bytes
}

#[test]
fn numbers_are_unique_and_follow_their_particles() {
    let (mut liquid, solids) = pool(true);
    let filled = liquid.particles().len() as u64;
    let mut before: HashMap<u64, ([f32; 2], f32, u32)> = HashMap::new();
    let mut followed = 0;
    run(&mut liquid, &solids, 0.5, |liquid, report| {
        let (particles, kept) = (liquid.particles(), kept(liquid));
        let mut now = HashMap::new();
        for (k, &id) in kept.id.iter().enumerate() {
            let (x, birth, source) = (particles.position[k], kept.birth[k], kept.source[k]);
            assert!(now.insert(id, (x, birth, source)).is_none(), "{id} twice");
            assert_eq!(source, u32::from(id >= filled));
            if let Some((was, born, from)) = before.get(&id) {
                let far = (x[0] - was[0]).hypot(x[1] - was[1]) as f64;
                // A step crosses at most a few cells.
                assert!(far < 5.0 / 24.0, "{id} moved by {far}");
                assert_eq!((birth, source), (*born, *from));
                followed += 1;
            } else if !before.is_empty() {
                assert_eq!(birth, report.time as f32, "{id} is new");
            }
        }
        before = now;
    });
    assert!(followed > 10_000 && kept(&liquid).next_id > filled);
}

#[test]
fn attributes_do_not_change_the_motion() {
    let ((mut with, solids), (mut without, _)) = (pool(true), pool(false));
    run(&mut with, &solids, 0.25, |_, _| {});
    run(&mut without, &solids, 0.25, |_, _| {});
    assert!(without.particles().attributes.is_none());
    assert_eq!(with.particles().position, without.particles().position);
    assert!(saved(&with).starts_with(&saved(&without)));
}

#[test]
fn attributes_are_saved_and_restored() {
    let (mut liquid, solids) = pool(true);
    run(&mut liquid, &solids, 0.25, |_, _| {});
    let bytes = saved(&liquid);
    let settings = liquid.settings().clone();
    let mut restored = Liquid::restore(settings.clone(), &bytes).unwrap();
    restored.set_sources(ports());
    assert_eq!(restored.particles(), liquid.particles());
    run(&mut liquid, &solids, 0.125, |_, _| {});
    run(&mut restored, &solids, 0.125, |_, _| {});
    assert!(saved(&liquid) == saved(&restored));
    for length in [bytes.len() - 1, bytes.len() - 9, bytes.len() - 16 * 7] {
        assert!(Liquid::restore(settings.clone(), &bytes[..length]).is_err());
    }
    // Who does not want them leaves them out, and who wants them begins where there are none.
    let unwanted = Settings {
        attributes: false,
        ..settings.clone()
    };
    let without = Liquid::restore(unwanted, &bytes).unwrap();
    assert!(without.particles().attributes.is_none());
    let later = Liquid::restore(settings, &saved(&without)).unwrap();
    assert_eq!(kept(&later).id.len(), later.particles().len());
}
