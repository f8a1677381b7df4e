#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fits every shipped hardware file anew: the H200's rows of this repository, and the public tables where they lie.
# The same rows give the same bytes, with any compiler and on any number of cores.
#   tools/calibrate_shipped.sh PLUMBLINE PUBLIC_ROWS OUTPUT [GPU-SOURCE...]
# PLUMBLINE is the built binary, PUBLIC_ROWS the folder of the public tables (they are not redistributed), OUTPUT a
# folder for the hardware files and their residual files. Named sources (h200-pytorch) are fitted alone: the other
# sources of those GPUs are taken as they are shipped.
set -euo pipefail
plumbline=$(readlink -f "$1") public=$(readlink -f "$2")
mkdir -p "$3"
output=$(readlink -f "$3")
only=" ${*:4} "
cd "$(dirname "$0")/.."
licence="Apache-2.0, NVIDIA aiconfigurator's collector; not redistributed"

# A GPU's data sheet alone: what its file says before the first kernel source.
sheet_of() {
  sed '/^\[\[source\]\]/,$d' "hardware/$1.toml" >"$sheets/$1.toml"
  echo "--sheet=$sheets/$1.toml"
}
sheets=$(mktemp -d)
trap 'rm -rf "$sheets"' EXIT

# $1 GPU, $2 source, $3 framework, $4 licence, $5 what to add to; then options and rows
calibrate() {
  local gpu=$1 source=$2 framework=$3 of=$4 base=$5
  shift 5
  if [ "$only" != "  " ]; then
    case "$only" in *" $gpu-$source "*) ;; *) return 0 ;; esac
    [ -e "$output/$gpu.toml" ] || cp hardware/"$gpu".toml hardware/"$gpu"-*.bin "$output"
    base="--add-to=$output/$gpu.toml"
  fi
  "$plumbline" hardware calibrate "$@" --name "$gpu" "$base" --source "$source" --framework "$framework" \
    --licence "$of" -o "$output/$gpu.toml"
}

# The public tables of a GPU that a fit takes: floors of the activations' quantising are not an operation by themselves.
tables_of() { find "$public" -maxdepth 1 -name "$1_*.csv*" ! -name '*_quantize.csv*' | sort; }

calibrate h200 pytorch "PyTorch 2.11.0, CUDA 13.0, cuDNN 9.19, driver 580; H200 SXM" Apache-2.0 \
  "$(sheet_of h200)" --keep-rows --clock-from measured/h200/submission_5.txt.gz measured/h200/*.csv measured/h200/flex/*.csv
mapfile -t rows < <(tables_of h200_sxm)
calibrate h200 vllm "vLLM 0.24.0 (attention with the KV-cache write), SGLang 0.5.14's DeepGEMM (GEMM in fp8_block); H200 SXM" \
  "$licence" "--add-to=$output/h200.toml" "${rows[@]}"
mapfile -t rows < <(tables_of h100_sxm)
calibrate h100 vllm "vLLM 0.24.0 (attention with the KV-cache write), SGLang 0.5.14's DeepGEMM (GEMM in fp8_block); H100 SXM" \
  "$licence" "$(sheet_of h100)" "${rows[@]}"
mapfile -t rows < <(tables_of b200_sxm)
calibrate b200 vllm "vLLM 0.24.0 (attention with the KV-cache write), SGLang 0.5.14's DeepGEMM (GEMM in fp8_block); B200 SXM" \
  "$licence" "$(sheet_of b200)" "${rows[@]}"
# Left out: decode in bf16, whose kernel (a block for each query head) no formula here follows (docs/accuracy.md).
mapfile -t rows < <(tables_of l40s | grep -v decode_attn_bf16.csv)
calibrate l40s vllm "vLLM 0.24.0 (attention with the KV-cache write), 0.14.0 (collectives); L40S" "$licence" \
  "$(sheet_of l40s)" "${rows[@]}"
mapfile -t rows < <(tables_of a100_sxm)
calibrate a100 vllm "vLLM 0.14.0 (attention with the KV-cache write), SGLang 0.5.10 (GEMM, experts); A100 SXM" "$licence" \
  "$(sheet_of a100)" "${rows[@]}"
