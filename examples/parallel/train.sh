#!/usr/bin/env bash
# Trains with GNU parallel, on this machine or on several.
#
#     train.sh RUN SLICES VOCAB_SIZE FILE...
#     PARALLEL='--sshloginfile nodes --env BPE' train.sh /shared/run 64 200000 /shared/corpus/*.txt
#
# RUN is a folder that has the same path on all machines; RUN/options is described in step.sh. After a failure, run it
# again: counted slices are not counted again.
set -euo pipefail

step=$(cd "$(dirname "$0")/.." && pwd)/step.sh
run=${1:?RUN} slices=${2:?SLICES} vocab_size=${3:?VOCAB_SIZE}

"$step" plan "$run" "$slices" "${@:4}"
seq 0 $((slices - 1)) | parallel --retries 3 "$step" count "$run" {}
exec "$step" train "$run" "$vocab_size"
