// SPDX-License-Identifier: Apache-2.0
// quantization_config of a config.json: the precision of each layer's projections, exceptions included.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "plumbline/base/text.h"
#include "plumbline/model/hf_exceptions.h"
#include "plumbline/model/hf_parts.h"

namespace plumbline::detail {
namespace {

/// The names that the projections of one part of a layer go by; `{}` is the layer's index.
struct Part {
  std::array<std::string_view, 4> names;
  WeightFormat TransformerLayer::*precision;
};

constexpr auto kParts = std::to_array<Part>({
    {{"layers.{}.self_attn.q_proj", "layers.{}.self_attn.q_a_proj", "layers.{}.self_attn.o_proj",
      "layers.{}.self_attn.kv_b_proj"},
     &TransformerLayer::attention},
    {{"layers.{}.mlp.gate_proj", "layers.{}.mlp.up_proj", "layers.{}.mlp.down_proj",
      "layers.{}.feed_forward.w1"},
     &TransformerLayer::mlp},
    {{"layers.{}.mlp.experts.0.gate_proj", "layers.{}.mlp.experts.0.down_proj",
      "layers.{}.block_sparse_moe.experts.0.w1", "layers.{}.mlp.experts.gate_up_proj"},
     &TransformerLayer::experts_precision},
    {{"layers.{}.mlp.shared_experts.gate_proj", "layers.{}.mlp.shared_experts.down_proj",
      "layers.{}.mlp.shared_expert.gate_proj", "layers.{}.mlp.shared_experts.up_proj"},
     &TransformerLayer::shared_precision},
});

/// The whole number under the first of the keys that is there; a value of another kind or outside the range
/// is an error, for a default in its place would be another model's.
std::int64_t number_of(HfReader& in, const Json& object, std::initializer_list<std::string_view> keys,
                       std::int64_t otherwise, std::int64_t least, std::int64_t most) {
  for (const std::string_view key : keys) {
    const auto it = object.find(key);
    if (it == object.end() || it->is_null()) continue;
    const bool fits = it->is_number_integer() &&
                      !(it->is_number_unsigned() && it->get<std::uint64_t>() > INT64_MAX) &&
                      it->get<std::int64_t>() >= least && it->get<std::int64_t>() <= most;
    if (fits) return it->get<std::int64_t>();
    in.wrong("hf-field-invalid",
             fmt::format("{} is {}, and must be a whole number from {} to {}", key,
                         printable(cut_middle(write_json_line(*it), 40)), least, most),
             fmt::format("quantization_config.{}", key));
  }
  return otherwise;
}

std::int64_t bits_of(HfReader& in, const Json& object, std::initializer_list<std::string_view> keys,
                     std::int64_t otherwise) {
  return number_of(in, object, keys, otherwise, 2, 16);
}

/// Weights that share a scale; -1 (a whole column) and 0 count as none.
std::int64_t group_of(HfReader& in, const Json& object, std::int64_t otherwise) {
  return number_of(in, object, {"group_size", "q_group_size"}, otherwise, -1, 1 << 20);
}

WeightFormat weight_only(std::int64_t bits, std::int64_t group) {
  const double scale = group > 0 ? 16.0 / static_cast<double>(group) : 0;
  return {fmt::format("int{}_wo", bits), static_cast<double>(bits) + scale};
}

/// fp8 with a float32 scale a block of weights; 128 x 128 where the block is not said.
WeightFormat fp8_block(HfReader& in, const Json* block) {
  double weights = 128 * 128;
  if (block != nullptr) {
    weights = 1;
    for (const Json& side : *block) {
      const bool fits = side.is_number_unsigned() && side.get<std::uint64_t>() >= 1 &&
                        side.get<std::uint64_t>() <= (1U << 20);
      if (!fits) {
        in.wrong("hf-field-invalid", "weight_block_size must be two whole numbers of at least 1",
                 "weight_block_size");
        break;
      }
      weights *= static_cast<double>(side.get<std::uint64_t>());
    }
  }
  return {"fp8_block", 8 + 32.0 / weights};
}

/// What a group of compressed-tensors or ModelOpt keeps its weights in, or none.
std::optional<WeightFormat> group_precision(HfReader& in, const Json& group) {
  if (!group.is_object()) return std::nullopt;
  const auto weights = group.find("weights");
  if (weights == group.end() || !weights->is_object()) return std::nullopt;
  const std::int64_t bits = bits_of(in, *weights, {"num_bits"}, 16);
  const std::int64_t size = group_of(in, *weights, 0);
  const auto type = weights->find("type");
  if (type != weights->end() && *type != "int" && *type != "float") return std::nullopt;
  const bool real = type != weights->end() && *type == "float";
  const auto inputs = group.find("input_activations");
  const bool weights_only = inputs == group.end() || inputs->is_null();
  if (bits == 16) return WeightFormat{};
  if (real && bits == 4) return size == 32 ? WeightFormat{"mxfp4", 4.25} : WeightFormat{"nvfp4", 4.5};
  if (real && bits == 8) {
    const auto block = weights->find("block_structure");
    if (block != weights->end() && block->is_array()) return fp8_block(in, &*block);
    return size == 32 ? WeightFormat{"mxfp8", 8.25} : WeightFormat{"fp8", 8};
  }
  if (real) return std::nullopt;
  if (weights_only) return weight_only(bits, size);
  return bits == 8 ? WeightFormat{"int8", 8}
                   : WeightFormat{fmt::format("int{}", bits), static_cast<double>(bits)};
}

std::optional<WeightFormat> algorithm_precision(std::string_view name, std::int64_t group) {
  const std::string algo = to_lower(name);
  if (algo == "fp8" || algo == "fp8_per_channel_per_token" || algo == "fbgemm_fp8")
    return WeightFormat{"fp8", 8};
  if (algo == "fp8_pb_wo" || algo == "fp8_block" || algo == "fp8_pb_real" || algo == "fp8_block_scales")
    return WeightFormat{"fp8_block", 8 + 32.0 / (128 * 128)};
  if (algo == "nvfp4" || algo == "nvfp4_awq" || algo == "w4a16_nvfp4") return WeightFormat{"nvfp4", 4.5};
  if (algo == "mxfp4" || algo == "w4a8_mxfp4_fp8" || algo == "w4a16_mxfp4" || algo == "w4a8_mxfp4_mxfp8")
    return WeightFormat{"mxfp4", 4.25};
  if (algo == "mxfp8") return WeightFormat{"mxfp8", 8.25};
  if (algo == "w4a16_awq" || algo == "w4a8_awq" || algo == "w4a16_gptq" || algo == "w4a16")
    return weight_only(4, group > 0 ? group : 128);
  if (algo == "w8a16" || algo == "w8a16_gptq") return weight_only(8, 0);
  if (algo.starts_with("w8a8_sq_per_channel")) return WeightFormat{"int8", 8};
  if (algo == "none" || algo == "no_quant") return WeightFormat{};
  return std::nullopt;
}

/// One group of projections and its format: those that a target names, or every linear one.
struct Group {
  WeightFormat format;
  std::vector<Exception> targets;
  bool all = true;
};

struct Scheme {
  std::vector<Group> groups;
  std::map<std::string, WeightFormat, std::less<>>
      by_module;  ///< mixed precision: without what stands before "layers."
  bool mixed = false;
  const Json* ignored = nullptr;
  bool head = false;          ///< the LM head is quantised too unless it is excepted
  bool experts_only = false;  ///< mxfp4 checkpoints keep all but the experts
};

/// The groups of compressed-tensors; classes ("Linear") stand for every projection.
std::optional<std::vector<Group>> read_groups(HfReader& in, const Json& groups, const Json& q) {
  std::vector<Group> all;
  for (const Json& each : groups) {
    auto precision = group_precision(in, each);
    const auto algo = q.find("quant_algo");
    if (!precision && algo != q.end() && algo->is_string())
      precision = algorithm_precision(algo->get<std::string>(), group_of(in, q, 128));
    if (!precision) return std::nullopt;
    Group group{*precision, {}, true};
    const auto targets = each.find("targets");
    if (targets != each.end() && targets->is_array()) {
      group.all = std::any_of(targets->begin(), targets->end(),
                              [](const Json& t) { return t == "Linear" || t == "LinearBase"; });
      if (!group.all) group.targets = read_exceptions(in, &*targets);
    }
    all.push_back(std::move(group));
  }
  // what names its modules goes before what means all of them
  std::stable_partition(all.begin(), all.end(), [](const Group& g) { return !g.all; });
  return all;
}

/// ModelOpt's mixed precision: a format a module.
bool read_modules(HfReader& in, const Json& modules, Scheme& scheme) {
  for (const auto& [name, each] : modules.items()) {
    const auto algo = each.is_object() ? each.find("quant_algo") : each.end();
    if (!each.is_object() || algo == each.end() || !algo->is_string()) return false;
    const auto precision = algorithm_precision(algo->get<std::string>(), group_of(in, each, 0));
    if (!precision) return false;
    scheme.by_module.emplace(bare(name), *precision);
  }
  scheme.mixed = true;
  return true;
}

/// Method by method: the precision, and where the exceptions are listed.
std::optional<Scheme> read_scheme(HfReader& in, const Json& q, const std::string& method) {
  const auto list = [&](std::string_view key) {
    const auto it = q.find(key);
    return it == q.end() || it->is_null() ? nullptr : &*it;
  };
  const auto with = [&](std::optional<WeightFormat> precision,
                        std::string_view key) -> std::optional<Scheme> {
    if (!precision) return std::nullopt;
    Scheme scheme;
    scheme.groups.push_back({*precision, {}, true});
    scheme.ignored = list(key);
    return scheme;
  };
  if (method == "fp8") {
    const Json* block = list("weight_block_size");
    const bool two = block != nullptr && block->is_array() && block->size() == 2;
    if (block != nullptr && !two) return std::nullopt;
    return with(two ? fp8_block(in, block) : WeightFormat{"fp8", 8},
                list("ignored_layers") != nullptr ? "ignored_layers" : "modules_to_not_convert");
  }
  if (method == "fbgemm_fp8") return with(WeightFormat{"fp8", 8}, "modules_to_not_convert");
  if (method == "awq" || method == "gptq" || method == "auto-round" || method == "autoround" ||
      method == "gptq_marlin" || method == "awq_marlin") {
    auto scheme = with(weight_only(bits_of(in, q, {"bits", "w_bit"}, 4), group_of(in, q, 128)),
                       "modules_to_not_convert");
    scheme->head = list("lm_head") != nullptr && *list("lm_head") == true;
    return scheme;
  }
  if (method == "mxfp4") {
    auto scheme = with(WeightFormat{"mxfp4", 4.25}, "modules_to_not_convert");
    scheme->experts_only = true;
    return scheme;
  }
  if (method == "bitsandbytes") {
    const bool four = q.value("load_in_4bit", Json(false)) == true;
    const bool eight = q.value("load_in_8bit", Json(false)) == true;
    if (four == eight) return std::nullopt;
    return with(weight_only(four ? 4 : 8, four ? 64 : 0), "llm_int8_skip_modules");
  }
  if (method != "compressed-tensors" && method != "modelopt" && method != "modelopt_fp4" &&
      method != "modelopt_mixed")
    return std::nullopt;
  const Json* groups = list("config_groups");
  const Json* algo = list("quant_algo");
  if (const Json* modules = list("quantized_layers"); modules != nullptr && modules->is_object()) {
    Scheme scheme;
    if (!read_modules(in, *modules, scheme)) return std::nullopt;
    return scheme;
  }
  if (groups != nullptr && groups->is_object() && !groups->empty()) {
    auto read = read_groups(in, *groups, q);
    if (!read) return std::nullopt;
    Scheme scheme;
    scheme.groups = std::move(*read);
    scheme.ignored = list("ignore");
    scheme.head = true;
    return scheme;
  }
  const std::string_view key = list("exclude_modules") != nullptr ? "exclude_modules" : "ignore";
  if (algo != nullptr && algo->is_string()) {
    auto scheme = with(algorithm_precision(algo->get<std::string>(), group_of(in, q, 128)), key);
    if (scheme) scheme->head = true;
    return scheme;
  }
  // ModelOpt quantises the cache alone, too
  if (algo == nullptr && list("kv_cache_quant_algo") != nullptr) return with(WeightFormat{}, key);
  return std::nullopt;
}

/// The format of a projection by the names that it may go by, or none.
std::optional<WeightFormat> format_of(const Scheme& scheme, const std::vector<std::string>& names) {
  if (scheme.mixed) {
    for (const std::string& name : names) {
      const auto it = scheme.by_module.find(name);
      if (it != scheme.by_module.end()) return it->second;
    }
    return std::nullopt;
  }
  for (const Group& group : scheme.groups) {
    if (group.all || std::any_of(names.begin(), names.end(),
                                 [&](const std::string& name) { return excepted(group.targets, name); }))
      return group.format;
  }
  return std::nullopt;
}

void apply(const Scheme& scheme, const std::vector<Exception>& exceptions, Transformer& model) {
  const auto any_excepted = [&](const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return excepted(exceptions, name); });
  };
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    for (const Part& part : kParts) {
      if (scheme.experts_only && part.precision != &TransformerLayer::experts_precision) continue;
      std::vector<std::string> names;
      for (const std::string_view name : part.names) names.push_back(fmt::format(fmt::runtime(name), i));
      if (any_excepted(names)) continue;
      if (const auto format = format_of(scheme, names)) model.layers[i].*part.precision = *format;
    }
  }
  const std::vector<std::string> head{"lm_head"};
  if (!scheme.head || model.tied_embeddings || model.head != HeadKind::language_model || any_excepted(head))
    return;
  if (const auto format = format_of(scheme, head)) model.head_precision = *format;
}

/// Bytes of an element of the cache by the scheme's words, or none: they say nothing.
std::optional<double> cache_bytes(HfReader& in, const Json& q) {
  for (const std::string_view key : {"kv_cache_scheme", "kv_cache_quant_algo"}) {
    const auto it = q.find(key);
    if (it == q.end() || it->is_null()) continue;
    const std::string word = it->is_string() ? to_lower(it->get<std::string>()) : "";
    const std::int64_t bits = it->is_object() ? bits_of(in, *it, {"num_bits"}, 16) : 0;
    if (word == "fp8" || word == "int8" || bits == 8) return 1;
    if (word == "nvfp4" || bits == 4) return 4.5 / 8;
    if (word == "none" || word == "bf16" || word == "auto" || bits == 16) continue;
    in.wrong(
        "hf-quantization-unknown",
        fmt::format("{} is {}, which is not known", key, printable(cut_middle(write_json_line(*it), 40))),
        key);
  }
  return std::nullopt;
}

/// The quantisation as config.json has it: in the decoder's object or at the top.
const Json* find_quantization(HfReader& in) {
  for (const Json* object : {&in.config, &in.root}) {
    for (const std::string_view key : {"quantization_config", "compression_config", "quantization"}) {
      const auto it = object->find(key);
      if (it == object->end() || it->is_null()) continue;
      if (it->is_object()) {
        if (it->empty()) continue;
        return &*it;
      }
      in.wrong("hf-quantization-unknown",
               fmt::format("{} is {}, and must be an object", key,
                           printable(cut_middle(write_json_line(*it), 40))),
               key);
      return nullptr;
    }
  }
  return nullptr;
}

void read_object(HfReader& in, const Json* q, Transformer& model) {
  const auto named = q->find("quant_method");
  std::string method = named != q->end() && named->is_string() ? to_lower(named->get<std::string>()) : "";
  const bool unnamed = named == q->end() || named->is_null();
  if (const auto nested = q->find("quantization"); nested != q->end() && nested->is_object()) q = &*nested;
  if (method.empty() && unnamed)
    method = q->contains("quant_algo") || q->contains("config_groups") ? "modelopt" : "";
  const auto scheme = read_scheme(in, *q, method);
  if (!in.found.empty()) return;
  if (!scheme) {
    in.wrong("hf-quantization-unknown",
             fmt::format("quantization_config has quant_method '{}' of a form that is not known",
                         printable(cut_middle(method, 40))),
             "quantization_config");
    return;
  }
  const auto exceptions = read_exceptions(in, scheme->ignored);
  const auto cache = cache_bytes(in, *q);
  if (!in.found.empty()) return;
  model.quantization = method;
  apply(*scheme, exceptions, model);
  if (cache) model.kv_element_bytes = *cache;
}

}  // namespace

void read_quantization(HfReader& in, const HfQuantFile* beside, Transformer& model) {
  const Json* q = find_quantization(in);
  if (!in.found.empty()) return;
  if (q != nullptr) {
    read_object(in, q, model);
  } else if (beside != nullptr) {
    const auto document = parse_json(beside->text, beside->file);
    if (!document.ok()) {
      in.found.insert(in.found.end(), document.diagnostics.begin(), document.diagnostics.end());
      return;
    }
    HfReader reader{*document.value, *document.value, beside->text, "", beside->file};
    if (document.value->is_object() && !document.value->empty()) {
      read_object(reader, &*document.value, model);
    } else {
      reader.wrong("hf-quantization-unknown", "the document must be an object that is not empty", "");
    }
    in.found.insert(in.found.end(), reader.found.begin(), reader.found.end());
  }
  for (TransformerLayer& layer : model.layers) set_weight_bytes(layer);
}

}  // namespace plumbline::detail
