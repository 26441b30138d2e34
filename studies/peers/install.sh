#!/bin/sh
# Installs the programs that the studies compare with: PETSc and Siconos with their Python bindings, from Debian.
# Needs root. The studies run without them, too, and then say what they left out.
set -eu
apt-get update
apt-get install -y --no-install-recommends python3-numpy python3-petsc4py python3-siconos
