#!/usr/bin/env bash
# Trains on a Slurm cluster: plans on this machine, counts in a job array, and trains when all slices are counted.
#
#     submit.sh RUN SLICES VOCAB_SIZE FILE...
#     submit.sh /shared/run 64 200000 /shared/corpus/*.txt
#
# RUN is a folder that has the same path on all nodes; RUN/options is described in step.sh. After a failure, run it
# again: counted slices are not counted again. Other sbatch settings (partition, account) come from SBATCH_PARTITION,
# SBATCH_ACCOUNT, ...
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
export STEP=$here/../step.sh RUN=${1:?RUN} VOCAB_SIZE=${3:?VOCAB_SIZE}
slices=${2:?SLICES}

"$STEP" plan "$RUN" "$slices" "${@:4}"
count=$(sbatch --parsable --array="0-$((slices - 1))" "$here/count.sbatch")
sbatch --dependency="afterok:${count%%;*}" "$here/train.sbatch"
