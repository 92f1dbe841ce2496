#!/usr/bin/env bash
# The steps of training on many machines that share a folder. Each may be killed at any time and run again: a file that
# has its final name is complete, and is not made again.
#
#     step.sh plan RUN SLICES FILE...    cuts the corpus      RUN/plan.jsonl, RUN/slices/00000, 00001, ...
#     step.sh count RUN [SLICE]          counts one slice     RUN/counts/00000.counts, ...
#     step.sh train RUN VOCAB_SIZE       adds up and trains   RUN/tokenizer
#     step.sh encode RUN [SLICE]         encodes one slice    RUN/ids/00000.bin, ...
#
# SLICE is a number from 0; by default the index of the Slurm array task or of the Kubernetes pod. RUN is a folder that
# has the same path on all machines. RUN/options has the options that plan, count and train share, one a line:
#
#     --pattern=o200k
#     --special-token=<|endoftext|>
#
# BPE names the program (default: bpe), RANGE_SIZE the approximate size of a range (default: 64MB).
set -euo pipefail

step=${1:?plan, count, train or encode}
run=${2:?the folder of the run}
bpe=${BPE:-bpe}

options=()
[ ! -e "$run/options" ] || mapfile -t options < "$run/options"

slice_name() {
  printf '%05d' "${1:-${SLURM_ARRAY_TASK_ID:-${JOB_COMPLETION_INDEX:?which slice?}}}"
}

# Divides the ranges of the plan $1 into $2 slices, which are files in $3. A slice has neighbouring ranges, with about as
# many bytes as another slice, because ranges differ in size. Some slices may be empty.
divide() {
  local index
  for ((index = 0; index < $2; index++)); do : > "$3/$(printf '%05d' "$index")"; done
  awk -F '"start":|,"end":|,"startsInside":' -v slices="$2" -v folder="$3" '
    NR == FNR { total += $3 - $2; next }
    {
      slice = int(before * slices / total)
      file = sprintf("%s/%05d", folder, slice < slices ? slice : slices - 1)
      if (file != last) close(last)
      print >> (last = file)
      before += $3 - $2
    }' "$1" "$1"
}

case $step in
  plan)
    slices=${3:?how many slices}
    if [ -e "$run/slices" ]; then
      echo "$run is planned already; for another plan take another folder" >&2
      exit
    fi
    "$bpe" plan "${@:4}" "${options[@]}" --range-size "${RANGE_SIZE:-64MB}" --output "$run/plan.jsonl"
    rm -rf "$run/slices.new"
    mkdir "$run/slices.new"
    divide "$run/plan.jsonl" "$slices" "$run/slices.new"
    mv "$run/slices.new" "$run/slices"
    ;;
  count)
    slice=$(slice_name "${3:-}")
    part=$run/counts/$slice.counts
    if [ -f "$run/slices/$slice" ] && [ ! -s "$run/slices/$slice" ] || [ -e "$part" ]; then exit; fi
    mkdir -p "$run/counts"
    exec "$bpe" count --ranges "$run/slices/$slice" "${options[@]}" --save-counts "$part"
    ;;
  train)
    missing=()
    for path in "$run"/slices/*; do
      slice=$(basename "$path")
      if [ -s "$path" ] && [ ! -e "$run/counts/$slice.counts" ]; then missing+=("$slice"); fi
    done
    if [ ${#missing[@]} -gt 0 ]; then
      echo "not counted yet: slices ${missing[*]}" >&2
      exit 1
    fi
    exec "$bpe" train --counts "$run/counts/*.counts" "${options[@]}" \
      --vocab-size "${3:?size of the vocabulary}" --output "$run/tokenizer"
    ;;
  encode)
    slice=$(slice_name "${3:-}")
    part=$run/ids/$slice.bin
    if [ -f "$run/slices/$slice" ] && [ ! -s "$run/slices/$slice" ] || [ -e "$part" ]; then exit; fi
    mkdir -p "$run/ids"
    exec "$bpe" encode --ranges "$run/slices/$slice" --tokenizer "$run/tokenizer" --output "$part"
    ;;
  *)
    echo "unknown step $step" >&2
    exit 2
    ;;
esac
