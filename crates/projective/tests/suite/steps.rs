//! Steps: determinism, failures, hostile settings.

use meniscus_projective::{Fluid, Method, Settings, SettingsError, StepError};
use meniscus_shapes::ScriptedSolid;

use crate::stage::{block, tank};

fn dam(threads: usize, method: Method) -> Fluid<2, f32> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let pool = pool.build().expect("threads");
    pool.install(|| {
        let solids = tank([1.0, 1.0]);
        let mut settings = Settings::new(0.02);
        settings.method = method;
        let mut fluid = block(settings, &solids, [0.0; 2], [0.4, 0.6]);
        for _ in 0..25 {
            fluid.step(&solids, 0.003, &mut |_| ()).unwrap();
        }
        fluid
    })
}

#[test]
fn results_are_the_same_bits_for_any_number_of_threads() {
    for method in [Method::Dual, Method::Jacobi, Method::Paper] {
        let one = dam(1, method);
        for threads in [2, 3] {
            assert_eq!(
                dam(threads, method).particles(),
                one.particles(),
                "{method:?}"
            );
        }
    }
}

#[test]
fn a_failed_step_leaves_the_particles_as_they_were() {
    let solids: Vec<ScriptedSolid<2>> = tank([0.5, 0.5]);
    let mut fluid: Fluid<2, f32> = block(Settings::new(0.05), &solids, [0.0; 2], [0.5, 0.3]);
    // Twice as many particles as there is room for.
    for k in 0..60 {
        let (i, j) = (k % 10, k / 10);
        fluid.add(
            [0.026 + 0.05 * f64::from(i), 0.024 + 0.05 * f64::from(j)],
            [0.0; 2],
            1,
        );
    }
    fluid.add([0.25, 0.45], [f64::NAN; 2], 1);
    let before = fluid.particles().clone();
    let failure = fluid.step(&solids, 0.005, &mut |_| ()).unwrap_err();
    assert_eq!(failure, StepError::NotFinite);
    assert_eq!(before.id, fluid.particles().id);
    assert_eq!(before.position, fluid.particles().position);
    assert_eq!(fluid.time(), 0.0);
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let refused = |change: &dyn Fn(&mut Settings<3>)| {
        let mut settings = Settings::new(0.1);
        change(&mut settings);
        let error: SettingsError = match Fluid::<3>::new(settings) {
            Err(error) => error,
            Ok(_) => panic!("a setting is out of range"),
        };
        error.to_string()
    };
    assert_eq!(
        refused(&|s| s.spacing = 0.0),
        "spacing is positive and finite, not 0"
    );
    assert!(refused(&|s| s.bulk_modulus = f64::NAN).contains("bulk_modulus"));
    assert!(refused(&|s| s.warm_start = 1.5).contains("from 0 to 1"));
    assert!(refused(&|s| s.gravity[1] = f64::INFINITY).contains("gravity"));
    assert!(refused(&|s| s.rounds = 0).contains("at least 1"));
    assert!(refused(&|s| s.max_step = -1.0).contains("max_step"));
}

#[test]
fn a_liquid_without_particles_steps() {
    let mut fluid = Fluid::<3>::new(Settings::new(0.1)).unwrap();
    let report = fluid.step(&[], 0.01, &mut |_| ()).unwrap();
    assert_eq!((report.particles, report.time), (0, 0.01));
}

#[test]
fn a_restored_liquid_continues_with_the_same_bits() {
    let solids = tank([1.0, 1.0]);
    let mut fluid: Fluid<2, f32> = block(Settings::new(0.04), &solids, [0.0; 2], [0.4, 0.6]);
    let steps = |fluid: &mut Fluid<2, f32>| {
        for _ in 0..10 {
            fluid.step(&solids, 0.004, &mut |_| ()).unwrap();
        }
    };
    steps(&mut fluid);
    let state = fluid.state();
    let mut restored = Fluid::restore(Settings::new(0.04), &state).unwrap();
    steps(&mut fluid);
    steps(&mut restored);
    assert_eq!(restored.particles(), fluid.particles());
    assert_eq!(restored.state(), fluid.state());
}

#[test]
fn damaged_states_are_refused() {
    let mut fluid: Fluid<2, f32> = Fluid::new(Settings::new(0.04)).unwrap();
    fluid.add([0.1, 0.2], [0.0; 2], 0);
    let state = fluid.state();
    let restore = |bytes: &[u8]| Fluid::<2, f32>::restore(Settings::new(0.04), bytes);
    assert!(restore(&state).is_ok());
    for len in 0..state.len() {
        assert!(restore(&state[..len]).is_err(), "{len} bytes");
    }
    assert!(Fluid::<3, f32>::restore(Settings::new(0.04), &state).is_err());
    assert!(Fluid::<2, f64>::restore(Settings::new(0.04), &state).is_err());
    let mut absurd = state.clone();
    absurd[34..42].fill(0xff);
    assert!(restore(&absurd).is_err());
    let mut not_finite = state;
    not_finite[42..46].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(restore(&not_finite).is_err());
}
