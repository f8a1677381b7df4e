// SPDX-License-Identifier: Apache-2.0
#include "plumbline/report/window_note.h"

#include <fmt/format.h>

#include <algorithm>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/model/measured.h"

namespace plumbline {
namespace {

double attention_ms(const Prediction& prediction) {
  for (const KernelTime& kernel : prediction.kernels()) {
    if (kernel.name == "attention") return kernel.ms;
  }
  return 0;
}

/// The backend that full attention of the layer takes: where it is left open, the faster one.
AttentionBackend taken(const Predictor& predictor, Layer layer, double full_ms) {
  if (layer.backend != AttentionBackend::best) return layer.backend;
  const auto& ops = layer.phase == Phase::decode ? predictor.source->decode : predictor.source->prefill;
  if (!ops[measured_place(AttentionBackend::cudnn)].known()) return AttentionBackend::flash;
  layer.backend = AttentionBackend::cudnn;
  return attention_ms(predict(predictor, layer)) <= full_ms ? AttentionBackend::cudnn
                                                            : AttentionBackend::flash;
}

std::string_view kernel_text(AttentionBackend backend) {
  return backend == AttentionBackend::cudnn    ? "cuDNN's kernel"
         : backend == AttentionBackend::varlen ? "FlashAttention's variable-length kernel"
         : backend == AttentionBackend::flex   ? "FlexAttention's kernel"
                                               : "FlashAttention's kernel";
}

/// What FlexAttention takes, where that was measured and is faster than the backend that was taken.
std::string flex_text(const Predictor& predictor, Layer layer) {
  const double taken_ms = attention_ms(predict(predictor, layer));
  layer.backend = AttentionBackend::flex;
  if (unsupported(predictor, layer)) return {};
  const double flex_ms = attention_ms(predict(predictor, layer));
  if (!(flex_ms < taken_ms)) return {};
  return fmt::format("; FlexAttention (backend=flex) takes {}", format_fixed(flex_ms, 4));
}

}  // namespace

std::string window_note(const Predictor& predictor, const Layer& layer) {
  if (predictor.source == nullptr || layer.window_size <= 0 || layer.window_size >= layer.seq_len) return {};
  if (layer.kv_dtype != Dtype::bf16) return {};  // both are the framework's own kernel
  Layer full = layer;
  full.window_size = 0;
  if (layer.backend == AttentionBackend::flex) full.backend = AttentionBackend::best;
  const double window_ms = attention_ms(predict(predictor, layer));
  const double full_ms = attention_ms(predict(predictor, full));
  if (!(window_ms > full_ms)) return {};
  const AttentionBackend backend = taken(predictor, full, full_ms);
  const bool itself = layer.backend == AttentionBackend::cudnn || layer.backend == AttentionBackend::flex;
  return fmt::format(
             "{}attention over a window of {} is predicted at {} ms and over all {} keys at {}: the first is "
             "{}, "
             "with its layout changes, the second {}",
             layer.name.empty() ? "" : fmt::format("{}: ", printable(layer.name)), layer.window_size,
             format_fixed(window_ms, 4), layer.seq_len, format_fixed(full_ms, 4),
             kernel_text(itself ? layer.backend : AttentionBackend::varlen), kernel_text(backend)) +
         flex_text(predictor, layer);
}

std::vector<std::string> cost_notes(const Predictor& predictor, const ModelCost& cost) {
  std::vector<std::string> notes;
  if (!cost.untimed.empty()) return notes;
  for (const LayerGroup& group : cost.groups) {
    std::string note = window_note(predictor, group.shape);
    if (!note.empty() && std::find(notes.begin(), notes.end(), note) == notes.end())
      notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace plumbline
