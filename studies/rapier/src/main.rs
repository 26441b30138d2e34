//! Runs a scene in one engine and prints a line of JSON.
//!
//! `meniscus-rapier SCENE STEPS meniscus [COARSE]` or `meniscus-rapier SCENE STEPS rapier ITERATIONS`. `COARSE` is the residual
//! to which contact problems of large islands are solved, as a share of the speed that gravity gives in a step.

use cpu_time::ProcessTime;
use meniscus_rapier::Engine;
use meniscus_rapier::measure::Measure;
use meniscus_rapier::meniscus::Meniscus;
use meniscus_rapier::peer::Peer;
use meniscus_rapier::scene::Scene;
use meniscus_rigid::Settings;
use serde_json::json;

const DT: f64 = 1.0 / 60.0;
/// Steps between measurements of the position error.
const EVERY: usize = 5;

fn main() -> Result<(), String> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build_global()
        .map_err(|cause| cause.to_string())?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [scene, steps, engine, rest @ ..] = &words[..] else {
        return Err("expected SCENE STEPS ENGINE".into());
    };
    let scene = Scene::named(scene).ok_or("no such scene")?;
    let steps: usize = steps.parse().map_err(|_| "STEPS is a number")?;
    let number = |default: f64| -> Result<f64, String> {
        let text = rest.first();
        text.map_or(Ok(default), |text| {
            text.parse().map_err(|_| format!("{text} is no number"))
        })
    };
    let exact_bowl = engine == "meniscus";
    let mut simulation: Box<dyn Engine> = match engine.as_str() {
        "meniscus" => {
            let settings = Settings::default();
            let settings = match rest.first() {
                Some(_) => settings.coarse_tolerance(number(0.0)?),
                None => settings,
            };
            Box::new(Meniscus::new(&scene, DT, settings))
        }
        "rapier" => Box::new(Peer::new(&scene, DT, number(4.0)? as usize)),
        _ => return Err("ENGINE is meniscus or rapier".into()),
    };
    let measure = Measure::new(&scene);
    let (mut seconds, mut errors, mut residuals, mut unconverged) =
        (Vec::new(), Vec::new(), Vec::new(), 0);
    for step in 0..steps {
        let start = ProcessTime::now();
        simulation.step();
        seconds.push(start.elapsed().as_secs_f64());
        if let Some((converged, residual)) = simulation.residual() {
            unconverged += usize::from(!converged);
            residuals.push(residual);
        }
        if step % EVERY == EVERY - 1 {
            errors.push(measure.error(&*simulation, exact_bowl));
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let late = |values: &[f64]| mean(&values[values.len() - values.len() / 4..]);
    println!(
        "{}",
        json!({
            "scene": scene.name,
            "engine": engine,
            "bodies": scene.bodies.len() - 1,
            "steps": steps,
            "cpu_per_step": mean(&seconds),
            "cpu_per_late_step": late(&seconds),
            "mean_error": mean(&errors),
            "late_error": late(&errors),
            "largest_error": largest(&errors),
            "unconverged": (!residuals.is_empty()).then_some(unconverged),
            "mean_residual": (!residuals.is_empty()).then(|| mean(&residuals)),
            "largest_residual": (!residuals.is_empty()).then(|| largest(&residuals)),
        })
    );
    Ok(())
}
