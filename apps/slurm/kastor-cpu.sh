#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One image on the cores of one node. Edit image and catalogue below, then: sbatch kastor-cpu.sh
# An account or a partition can be given on that line: sbatch --account=... --partition=... kastor-cpu.sh
#SBATCH --job-name=kastor
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=16
#SBATCH --hint=nomultithread
#SBATCH --mem=16G
#SBATCH --time=00:30:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
set -euo pipefail

image=sky.fits
catalogue=sources.fits
options=(--preset radio)

# The modules that provide kastor, whose names depend on the cluster. Leave it empty if kastor is on the PATH.
modules=()
# A folder on a local disk of the node. The image is first copied there in one stream, which helps if the file system is slow
# when many threads read one file. If empty, the image is read in place, once, which is best on Lustre or GPFS.
scratch=

if [[ ${#modules[@]} -gt 0 ]]; then
  set +u # the shell functions of modules may use unset variables
  module load "${modules[@]}"
  set -u
fi
# --requeue runs this script again from its first line. A catalogue appears only when it is complete. So an existing one is
# from an earlier run that had finished it, and is replaced by the same bits.
options+=(--overwrite)

# One OpenMP thread per core of the job, bound to its core and spread over the sockets, so that the memory that a thread
# touches first is local to it. Kokkos' variables, which would override this, are unset, and --threads is not given.
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
export OMP_PROC_BIND=spread
export OMP_PLACES=cores
unset KOKKOS_NUM_THREADS KOKKOS_DEVICE_ID KOKKOS_VISIBLE_DEVICES
# Since Slurm 22.05, srun does not inherit this from sbatch.
export SRUN_CPUS_PER_TASK=$OMP_NUM_THREADS

if [[ -n $scratch ]]; then
  folder=$(mktemp -d "$scratch/kastor.XXXXXX")
  trap 'rm -rf "$folder"' EXIT
  cp "$image" "$folder/"
  image=$folder/${image##*/}
fi

# The job ends with kastor's exit code: 0 done, 1 failure (files, data, memory, devices), 2 wrong usage.
srun --cpu-bind=cores kastor find "$image" "${options[@]}" -o "$catalogue" --on openmp --timings
