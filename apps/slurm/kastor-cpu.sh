#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One image on the cores of one node. Edit image and catalogue below, then: sbatch kastor-cpu.sh
# What a cluster wants besides (an account, a partition) fits on that line: sbatch --account=... --partition=... kastor-cpu.sh
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

# Where kastor comes from. Modules are called differently everywhere: name yours here, or put kastor on the PATH.
modules=()
# A folder on a disk of the node's own: the image is copied there first, in one stream, which spares a file system that is
# slow when many threads read a file at once. Empty: the image is read where it is, once, as it should be on Lustre or GPFS.
scratch=

if [[ ${#modules[@]} -gt 0 ]]; then
  set +u # which the shell functions of modules do not always bear
  module load "${modules[@]}"
  set -u
fi
# --requeue runs this again from its first line. The catalogue appears whole or not at all, so one that is there was finished
# by a run that was stopped late, and is replaced by the same bits.
options+=(--overwrite)

# One OpenMP thread for each core of the job, each kept on its core and spread over the sockets, so that the memory that a
# thread touches first stays near to it. Kokkos' own variables, which would say otherwise, are unset; so is kastor's --threads.
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
export OMP_PROC_BIND=spread
export OMP_PLACES=cores
unset KOKKOS_NUM_THREADS KOKKOS_DEVICE_ID KOKKOS_VISIBLE_DEVICES
# From Slurm 22.05 on srun does not take this over from sbatch.
export SRUN_CPUS_PER_TASK=$OMP_NUM_THREADS

if [[ -n $scratch ]]; then
  folder=$(mktemp -d "$scratch/kastor.XXXXXX")
  trap 'rm -rf "$folder"' EXIT
  cp "$image" "$folder/"
  image=$folder/${image##*/}
fi

# The job ends with kastor's code: 0 done, 1 files, data, memory or devices, 2 the options.
srun --cpu-bind=cores kastor find "$image" "${options[@]}" -o "$catalogue" --on openmp --timings
