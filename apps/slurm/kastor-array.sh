#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Many images: a list of files, one a line, in as many slices as the array has tasks. Edit list and folder below, then:
#   ls "$PWD"/images/*.fits >images.txt
#   sbatch kastor-array.sh
# and once more for what is left after a failure: finished images are skipped. sbatch --array=3,7 runs two slices again.
#SBATCH --job-name=kastor-array
#SBATCH --array=0-9
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --hint=nomultithread
#SBATCH --mem=16G
#SBATCH --time=02:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%A_%a.log
set -euo pipefail

list=images.txt
folder=catalogues
options=(--preset radio)
# How many slices there are: as many as --array above has tasks.
slices=10
# openmp; or cuda, with a line more above: #SBATCH --gres=gpu:1
on=openmp

# Where kastor comes from. Modules are called differently everywhere: name yours here, or put kastor on the PATH.
modules=()
# Where the task may keep its slice of the list.
scratch=${TMPDIR:-/tmp}

if [[ ${#modules[@]} -gt 0 ]]; then
  set +u # which the shell functions of modules do not always bear
  module load "${modules[@]}"
  set -u
fi

task=${SLURM_ARRAY_TASK_ID:?this is an array job: submit it with sbatch}
if ((task >= slices)); then
  printf 'kastor-array.sh: task %d of --array; expected 0 to %d, for slices=%d\n' "$task" $((slices - 1)) "$slices" >&2
  exit 2
fi
if ((${SLURM_ARRAY_TASK_COUNT:-slices} != slices)); then
  printf 'kastor-array.sh: this job runs %d of %d slices\n' "$SLURM_ARRAY_TASK_COUNT" "$slices" >&2
fi

slice=$(mktemp "$scratch/kastor-slice.XXXXXX")
trap 'rm -f "$slice"' EXIT
# Every image in turn goes to the next slice, so that a list sorted by size or by field is dealt out evenly.
awk -v slices="$slices" -v task="$task" '!/^[ \t\r]*$/ && !/^#/ && n++ % slices == task' "$list" >"$slice"
if [[ ! -s $slice ]]; then
  printf 'kastor-array.sh: no image of %s is in slice %d\n' "$list" "$task" >&2
  exit 0
fi
mkdir -p "$folder" # before kastor, of which several may begin at once

# One OpenMP thread for each core of the task, each kept on its core (kastor-cpu.sh says why).
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
export OMP_PROC_BIND=spread
export OMP_PLACES=cores
unset KOKKOS_NUM_THREADS KOKKOS_DEVICE_ID KOKKOS_VISIBLE_DEVICES
# From Slurm 22.05 on srun does not take this over from sbatch.
export SRUN_CPUS_PER_TASK=$OMP_NUM_THREADS

# --resume skips the images whose catalogues are there, of the same pixels, options and version: after a requeue, or a time
# limit that was too short, a task goes on where it stopped. An image that fails is named on stderr, the others are finished,
# and the task ends with kastor's code: 0 done, 1 files, data, memory or devices, 2 the options.
srun --cpu-bind=cores kastor find "@$slice" "${options[@]}" -o "$folder/" --format fits --resume --on "$on"
