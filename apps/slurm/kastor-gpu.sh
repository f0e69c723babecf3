#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One image on one GPU of NVIDIA's. Edit image and catalogue below, then: sbatch kastor-gpu.sh
# What a cluster wants besides (an account, a partition) fits on that line: sbatch --account=... --partition=... kastor-gpu.sh
#SBATCH --job-name=kastor-gpu
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --gres=gpu:1
#SBATCH --cpus-per-task=4
#SBATCH --hint=nomultithread
#SBATCH --mem=16G
#SBATCH --time=00:10:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
set -euo pipefail

image=sky.fits
catalogue=sources.fits
options=(--preset radio)

# Where kastor comes from. Modules are called differently everywhere: name yours here, or put kastor on the PATH.
modules=()
# A folder on a disk of the node's own: the image is copied there first, in one stream. Empty: it is read where it is.
scratch=

if [[ ${#modules[@]} -gt 0 ]]; then
  set +u # which the shell functions of modules do not always bear
  module load "${modules[@]}"
  set -u
fi
# --requeue runs this again from its first line. The catalogue appears whole or not at all, so one that is there was finished
# by a run that was stopped late, and is replaced by the same bits.
options+=(--overwrite)

# kastor computes on one GPU: the first that the job sees, and Slurm lets it see its own alone (CUDA_VISIBLE_DEVICES). Which
# of several would be Kokkos' matter, by KOKKOS_DEVICE_ID: nothing to choose here. The cores read and decode the file.
unset KOKKOS_NUM_THREADS KOKKOS_DEVICE_ID KOKKOS_VISIBLE_DEVICES
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
export OMP_PROC_BIND=spread
export OMP_PLACES=cores
# From Slurm 22.05 on srun does not take this over from sbatch.
export SRUN_CPUS_PER_TASK=$OMP_NUM_THREADS

if [[ -n $scratch ]]; then
  folder=$(mktemp -d "$scratch/kastor.XXXXXX")
  trap 'rm -rf "$folder"' EXIT
  cp "$image" "$folder/"
  image=$folder/${image##*/}
fi

# --on cuda: a node without a usable GPU ends the job (code 1), where kastor by itself would go on with the cores.
# The job ends with kastor's code: 0 done, 1 files, data, memory or devices, 2 the options.
srun --cpu-bind=cores kastor find "$image" "${options[@]}" -o "$catalogue" --on cuda --timings
