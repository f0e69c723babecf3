#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One image on one NVIDIA GPU. Edit image and catalogue below, then: sbatch kastor-gpu.sh
# An account or a partition can be given on that line: sbatch --account=... --partition=... kastor-gpu.sh
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

# The modules that provide kastor, whose names depend on the cluster. Leave it empty if kastor is on the PATH.
modules=()
# A folder on a local disk of the node. The image is first copied there in one stream. If empty, it is read in place.
scratch=

if [[ ${#modules[@]} -gt 0 ]]; then
  set +u # the shell functions of modules may use unset variables
  module load "${modules[@]}"
  set -u
fi
# --requeue runs this script again from its first line. A catalogue appears only when it is complete. So an existing one is
# from an earlier run that had finished it, and is replaced by the same bits.
options+=(--overwrite)

# kastor computes on one GPU, the first that the job sees. Slurm shows the job only its own GPU (CUDA_VISIBLE_DEVICES), so
# KOKKOS_DEVICE_ID, which would select among several, is unset. The cores read and decode the file.
unset KOKKOS_NUM_THREADS KOKKOS_DEVICE_ID KOKKOS_VISIBLE_DEVICES
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
export OMP_PROC_BIND=spread
export OMP_PLACES=cores
# Since Slurm 22.05, srun does not inherit this from sbatch.
export SRUN_CPUS_PER_TASK=$OMP_NUM_THREADS

if [[ -n $scratch ]]; then
  folder=$(mktemp -d "$scratch/kastor.XXXXXX")
  trap 'rm -rf "$folder"' EXIT
  cp "$image" "$folder/"
  image=$folder/${image##*/}
fi

# With --on cuda, a node without a usable GPU ends the job (code 1); without it, kastor would fall back to the cores.
# The job ends with kastor's exit code: 0 done, 1 failure (files, data, memory, devices), 2 wrong usage.
srun --cpu-bind=cores kastor find "$image" "${options[@]}" -o "$catalogue" --on cuda --timings
