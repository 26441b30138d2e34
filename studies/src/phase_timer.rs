//! CPU time of one phase of steps.

use crate::machine::Moment;

/// The phase of pressure and contact.
pub const PRESSURE_CONTACT: &str = "pressure-contact";

/// CPU time of one phase, summed over steps.
pub struct PhaseTimer {
    phase: &'static str,
    began: Option<Moment>,
    /// CPU seconds.
    pub cpu: f64,
}

impl PhaseTimer {
    /// A timer of the phase of pressure and contact.
    pub fn of_pressure_contact() -> Self {
        Self {
            phase: PRESSURE_CONTACT,
            began: None,
            cpu: 0.0,
        }
    }

    fn turn(&mut self, phase: &'static str) {
        if let Some(began) = self.began.take() {
            self.cpu += Moment::now().since(&began).cpu;
        }
        if phase == self.phase {
            self.began = Some(Moment::now());
        }
    }
}

impl meniscus_liquid::Phases for PhaseTimer {
    fn begin(&mut self, phase: &'static str) {
        self.turn(phase);
    }
}

impl meniscus_sim::Phases for PhaseTimer {
    fn begin(&mut self, phase: &'static str) {
        self.turn(phase);
    }
}
