#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fits every shipped hardware file anew: the H200's rows of this repository, and the public tables where they lie.
# The same rows give the same bytes, with any compiler and on any number of cores.
#   tools/calibrate_shipped.sh PLUMBLINE PUBLIC_ROWS OUTPUT
# PLUMBLINE is the built binary, PUBLIC_ROWS the folder of the public tables (they are not redistributed), OUTPUT a
# folder for the hardware files and their residual files.
set -euo pipefail
plumbline=$(readlink -f "$1") public=$(readlink -f "$2")
mkdir -p "$3"
output=$(readlink -f "$3")
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
  "$plumbline" hardware calibrate "$@" --name "$gpu" "$base" --source "$source" --framework "$framework" \
    --licence "$of" -o "$output/$gpu.toml"
}

calibrate h200 pytorch "PyTorch 2.11.0, CUDA 13.0, cuDNN 9.19, driver 580; H200 SXM" Apache-2.0 \
  "$(sheet_of h200)" --keep-rows measured/h200/*.csv
calibrate h200 vllm "vLLM 0.24.0 (attention with the KV-cache write); H200 SXM" "$licence" \
  "--add-to=$output/h200.toml" "$public"/h200_*.csv
calibrate h100 vllm "vLLM 0.24.0 (attention with the KV-cache write); H100 SXM" "$licence" \
  "$(sheet_of h100)" "$public"/h100_*.csv
calibrate a100 vllm "vLLM 0.14.0 (attention with the KV-cache write), SGLang 0.5.10 (GEMM); A100 SXM" "$licence" \
  "$(sheet_of a100)" "$public"/a100_*.csv
