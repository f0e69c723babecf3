#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Many images: a list of files, one per line, in as many slices as the array has tasks. Edit list and folder below, then:
#   ls "$PWD"/images/*.fits >images.txt
#   sbatch kastor-array.sh
# After a failure, submit it again: finished images are skipped. sbatch --array=3,7 runs two slices again.
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
# The number of slices, which is the number of tasks of --array above.
slices=10
# openmp; or cuda, with one more line above: #SBATCH --gres=gpu:1
on=openmp

# The modules that provide kastor, whose names depend on the cluster. Leave it empty if kastor is on the PATH.
modules=()
# The folder for the slice of the list of this task.
scratch=${TMPDIR:-/tmp}

if [[ ${#modules[@]} -gt 0 ]]; then
  set +u # the shell functions of modules may use unset variables
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
# The images go to the slices in turn, so that a list sorted by size or by field is spread evenly.
awk -v slices="$slices" -v task="$task" '!/^[ \t\r]*$/ && !/^#/ && n++ % slices == task' "$list" >"$slice"
if [[ ! -s $slice ]]; then
  printf 'kastor-array.sh: no image of %s is in slice %d\n' "$list" "$task" >&2
  exit 0
fi
mkdir -p "$folder" # before kastor, since several tasks may start at once

# One OpenMP thread per core of the task, bound to its core (kastor-cpu.sh says why).
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}
export OMP_PROC_BIND=spread
export OMP_PLACES=cores
unset KOKKOS_NUM_THREADS KOKKOS_DEVICE_ID KOKKOS_VISIBLE_DEVICES
# Since Slurm 22.05, srun does not inherit this from sbatch.
export SRUN_CPUS_PER_TASK=$OMP_NUM_THREADS

# --resume skips the images whose catalogues exist and have the same pixels, options and version: after a requeue or a time
# limit, a task continues where it stopped. If an image fails, it is named on stderr and the others are processed. The task
# ends with kastor's exit code: 0 done, 1 failure (files, data, memory, devices), 2 wrong usage.
srun --cpu-bind=cores kastor find "@$slice" "${options[@]}" -o "$folder/" --format fits --resume --on "$on"
