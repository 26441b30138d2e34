//! Files of each kind: read, compared with what other readers make of them, damaged, and lying.

mod files;
mod hostile;
mod oracles;
