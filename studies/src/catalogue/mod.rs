//! All studies. A new one is a file here and a line in [`STUDIES`].

mod ane17;
mod archimedes;
mod auto;
mod coupling_speed;
mod erl13;
mod lai20;
mod lcp_speed;
mod mesh_distance;
mod pf_speed;
mod rigid_speed;
mod runner_speed;
mod step_speed;
mod surface_speed;
mod surface_volume;
mod tb20;
mod walls_cost;
mod walls_speed;
mod wkb16;

use crate::study::Entry;

/// In the order in which they are listed.
pub const STUDIES: &[Entry] = &[
    Entry::of::<step_speed::StepSpeed>(),
    Entry::of::<runner_speed::RunnerSpeed>(),
    Entry::of::<surface_speed::SurfaceSpeed>(),
    Entry::of::<surface_volume::SurfaceVolume>(),
    Entry::of::<mesh_distance::MeshDistance>(),
    Entry::of::<lcp_speed::LcpSpeed>(),
    Entry::of::<auto::Auto>(),
    Entry::of::<walls_speed::WallsSpeed>(),
    Entry::of::<walls_cost::WallsCost>(),
    Entry::of::<rigid_speed::RigidSpeed>(),
    Entry::of::<archimedes::Archimedes>(),
    Entry::of::<coupling_speed::CouplingSpeed>(),
    Entry::of::<pf_speed::PfSpeed>(),
    Entry::of::<erl13::Fig1>(),
    Entry::of::<erl13::Fig2>(),
    Entry::of::<erl13::Fig3>(),
    Entry::of::<erl13::Fig4>(),
    Entry::of::<erl13::Fig5>(),
    Entry::of::<erl13::Fig6>(),
    Entry::of::<erl13::Table1>(),
    Entry::of::<erl13::Table2>(),
    Entry::of::<erl13::Table3>(),
    Entry::of::<erl13::Psd>(),
    Entry::of::<erl13::Contacts>(),
    Entry::of::<ane17::Table1>(),
    Entry::of::<ane17::Fig1>(),
    Entry::of::<ane17::Frames>(),
    Entry::of::<ane17::Fig8>(),
    Entry::of::<ane17::Fig11>(),
    Entry::of::<ane17::Fig12>(),
    Entry::of::<ane17::Fig13>(),
    Entry::of::<ane17::Fig14>(),
    Entry::of::<ane17::Fig15>(),
    Entry::of::<ane17::Fig16>(),
    Entry::of::<ane17::Fig17>(),
    Entry::of::<ane17::Starts>(),
    Entry::of::<lai20::Means<1>>(),
    Entry::of::<lai20::Means<2>>(),
    Entry::of::<lai20::Means<3>>(),
    Entry::of::<lai20::Means<4>>(),
    Entry::of::<lai20::Means<5>>(),
    Entry::of::<lai20::Means<6>>(),
    Entry::of::<lai20::Means<7>>(),
    Entry::of::<lai20::Means<8>>(),
    Entry::of::<lai20::Single<9>>(),
    Entry::of::<lai20::Single<10>>(),
    Entry::of::<lai20::Single<11>>(),
    Entry::of::<lai20::Ablation>(),
    Entry::of::<lai20::Fig5x5>(),
    Entry::of::<lai20::Fig5x10>(),
    Entry::of::<lai20::Fig5x11>(),
    Entry::of::<lai20::Frames>(),
    Entry::of::<tb20::Table1>(),
    Entry::of::<tb20::Fig12>(),
    Entry::of::<tb20::Fig15To17>(),
    Entry::of::<tb20::Solver>(),
    Entry::of::<wkb16::Table1>(),
    Entry::of::<wkb16::Density>(),
    Entry::of::<wkb16::Frames>(),
    Entry::of::<tb20::Table2>(),
    Entry::of::<tb20::Table3>(),
];

/// The study of this name.
pub fn named(name: &str) -> Option<&'static Entry> {
    STUDIES.iter().find(|study| study.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_study_has_a_name_of_its_own_and_one_line_about_it() {
        let mut names = HashSet::new();
        for study in STUDIES {
            assert!(names.insert(study.name), "{} twice", study.name);
            let usable = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
            assert!(study.name.chars().all(usable), "{}", study.name);
            assert!(!study.summary.is_empty() && !study.summary.contains('\n'));
            assert!(named(study.name).is_some());
        }
    }
}
