// SPDX-License-Identifier: Apache-2.0
// What stands beside a model's layers: embedding, head, drafts' inputs, multi-token prediction.
#include <fmt/format.h>

#include <algorithm>

#include "plumbline/base/numbers.h"
#include "plumbline/model/hf_parts.h"

namespace plumbline::detail {
namespace {

std::int64_t labels_of(HfReader& in, std::string_view architecture) {
  if (const auto given = in.count({"num_labels"}, 1 << 20)) return *given;
  const Json* names = in.get({"id2label"});
  if (names != nullptr && names->is_object() && !names->empty())
    return static_cast<std::int64_t>(names->size());
  const bool reward = architecture.find("RewardModel") != architecture.npos &&
                      architecture.find("Process") == architecture.npos;
  return reward ? 1 : 2;
}

}  // namespace

void count_ends(HfReader& in, const HfFamily& f, const Role& role, Transformer& model) {
  const std::int64_t h = model.hidden_dim;
  const auto layers = static_cast<std::int64_t>(model.layers.size());
  std::int64_t rows = model.vocab_size;
  std::int64_t width = h;
  if (is(f, "mllama")) rows += 8;
  if (is(f, "opt")) {
    width = in.count({"word_embed_proj_dim"}, kMaxHfDim).value_or(h);
    if (width != h) model.other_parameters += 2 * width * h;
  }
  model.embedding_parameters = rows * width;
  const Json* alibi = in.get({"attn_config.alibi"});
  const bool learned =
      f.positions == Positions::learned || (is(f, "mpt") && (alibi == nullptr || *alibi == false));
  if (learned) {
    static constexpr HfReader::Names kPositions{"n_positions", "max_position_embeddings", "max_seq_len"};
    model.embedding_parameters += (in.need_count(kPositions, kMaxHfDim).value_or(0) + f.position_offset) * h;
  }
  model.other_parameters += norm_parameters(f.embedding_norm, h);
  const bool bare = is(f, "opt") && (!in.flag({"do_layer_norm_before"}, true) ||
                                     in.flag({"_remove_final_layer_norm"}, false));
  model.final_norm_parameters = bare ? 0 : norm_parameters(f.norm, h);
  if (f.extra == HfExtra::gemma3n || f.extra == HfExtra::gemma4) {
    const bool three = f.extra == HfExtra::gemma3n;
    const std::int64_t wide =
        in.count({"hidden_size_per_layer_input"}, kMaxHfDim, 0).value_or(three ? 256 : 0);
    const std::int64_t vocab = in.count({"vocab_size_per_layer_input"}, kMaxHfDim).value_or(262'144);
    if (wide > 0) model.other_parameters += (vocab + h) * layers * wide + wide;
    const std::int64_t inputs = in.count({"altup_num_inputs"}, 64).value_or(4);
    if (three) model.other_parameters += 2 * (inputs - 1) * h * h;
  }
  if (role.head == HeadKind::language_model && !f.tied) {
    model.lm_head_parameters = model.vocab_size * width + (f.head_bias ? model.vocab_size : 0);
  }
  if (role.head == HeadKind::language_model && f.tied && f.head_bias)
    model.lm_head_parameters = model.vocab_size;
  if (role.head == HeadKind::classifier) {
    const std::int64_t labels = labels_of(in, model.architecture);
    model.lm_head_parameters = labels * h + (role.deep_head || role.head_bias ? labels : 0);
    if (role.deep_head) model.lm_head_parameters += h * h + h;
  }
}

void count_draft(HfReader& in, const Role& role, Transformer& model) {
  if (role.eagle == 0 || model.layers.empty()) return;
  const std::int64_t h = model.hidden_dim;
  TransformerLayer& first = model.layers.front();
  const Layer& s = first.shape;
  const bool bias = role.eagle == 1 && in.flag({"bias"}, true);
  model.lm_head_parameters = 0;
  if (role.eagle == 3) {
    const std::int64_t target = in.count({"target_hidden_size"}, kMaxHfDim).value_or(h);
    const std::int64_t more = h * (s.num_heads + 2 * s.num_kv_heads) * s.head_dim;
    first.weights_per_token += more;
    first.parameters += more + h;
    first.active_parameters += more + h;
    model.other_parameters += 3 * target * h;
    model.lm_head_parameters = in.count({"draft_vocab_size"}, kMaxHfDim).value_or(model.vocab_size) * h;
  } else {
    first.parameters -= h;  // the first layer's input is normalised by the target
    first.active_parameters -= h;
    model.other_parameters += 2 * h * h + (bias ? h : 0);
    model.final_norm_parameters = 0;
    model.head = HeadKind::none;
  }
  model.notes.push_back(fmt::format("a draft (EAGLE{}): it runs beside a target model, whose states it reads",
                                    role.eagle == 3 ? "-3" : ""));
  for (TransformerLayer& layer : model.layers)
    layer.unlisted = layer.untimed = "a draft model: its first layer reads two states at once";
}

void count_mtp(HfReader& in, Transformer& model) {
  const std::int64_t modules =
      in.count({"num_nextn_predict_layers", "mtp_num_hidden_layers"}, kMaxHfLayers, 0).value_or(0);
  if (modules == 0) return;
  const auto last =
      std::find_if(model.layers.rbegin(), model.layers.rend(),
                   [](const TransformerLayer& layer) { return layer.has_attention && layer.has_mlp; });
  if (last == model.layers.rend()) return;
  const std::int64_t h = model.hidden_dim;
  model.mtp_parameters = modules * (last->parameters + 2 * h * h + 3 * h);
  model.notes.push_back(fmt::format("{} multi-token prediction module{} of {} parameters not counted",
                                    modules, modules == 1 ? "" : "s", format_grouped(model.mtp_parameters)));
}

}  // namespace plumbline::detail
