//! Flows with known solutions.
