//! Signed distances and scripted motion.
