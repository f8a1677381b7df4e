// SPDX-License-Identifier: Apache-2.0
// How each kind of operation is computed: its constants, its formula and roofline, and what its trees look
// at.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "plumbline/model/measured_mla.h"
#include "plumbline/model/measured_moe.h"
#include "plumbline/model/operation.h"

namespace plumbline {
namespace {

OperationAnalytic of_attention(const AttentionAnalytic& a) {
  OperationAnalytic out;
  out.us = a.us;
  out.launch_us = a.launch_us;
  out.memory_us = a.memory_us;
  out.tensor_us = a.tensor_us;
  out.moved_us = a.write_us;
  out.longest_us = a.longest_us;
  out.reread_us = a.reread_us;
  out.items_us = a.items_us;
  return out;
}

AttentionAnalytic to_attention(const OperationAnalytic& o) {
  AttentionAnalytic a;
  a.us = o.us;
  a.launch_us = o.launch_us;
  a.memory_us = o.memory_us;
  a.tensor_us = o.tensor_us;
  a.write_us = o.moved_us;
  a.longest_us = o.longest_us;
  a.reread_us = o.reread_us;
  a.items_us = o.items_us;
  return a;
}

const GemmShape& gemm(const KernelShape& s) { return std::get<GemmShape>(s); }
const AttentionShape& attention(const KernelShape& s) { return std::get<AttentionShape>(s); }
const MoeShape& moe(const KernelShape& s) { return std::get<MoeShape>(s); }
const GroupedGemmShape& grouped(const KernelShape& s) { return std::get<GroupedGemmShape>(s); }
const MlaShape& mla(const KernelShape& s) { return std::get<MlaShape>(s); }
const CollectiveShape& collective(const KernelShape& s) { return std::get<CollectiveShape>(s); }

double bytes_of(const CollectiveShape& s) {
  return static_cast<double>(s.elements) * static_cast<double>(s.element_bytes);
}

/// Bytes that one GPU must send: a ring's share of the message, twice for an all-reduce.
double sent_bytes(const CollectiveShape& s) {
  const auto n = static_cast<double>(s.gpus);
  return bytes_of(s) * (n - 1) / n * (s.op == CollectiveOp::all_reduce ? 2 : 1);
}

constexpr std::array<std::string_view, 2> kCollectiveConstants{"t0_us", "bandwidth"};

bool all_positive(std::span<const double> c) {
  return std::all_of(c.begin(), c.end(), [](double v) { return v >= 0 && v < 1e6; });
}

std::vector<double> low_gemm(std::vector<double> c, double quant_us, double quant_bytes) {
  c.push_back(quant_us);
  c.push_back(quant_bytes);
  return c;
}

OperationFamily mla_family() {
  return {kMlaConstants,
          kMlaFeatures,
          [](const Machine& m, std::span<const double> c, const KernelShape& s) {
            return mla_analytic(m, c, mla(s));
          },
          [](const Machine& m, const OperationAnalytic& a, const KernelShape& s, std::span<float> out) {
            mla_features(m, a, mla(s), out);
          },
          [](const Machine& m, const KernelShape& s) {
            constexpr std::array<double, 6> ideal{0, 1, 1, 1, 0, 0};
            return mla_analytic(m, ideal, mla(s)).us;
          },
          [](const KernelShape& s) -> std::array<double, 3> {
            const MlaShape& shape = mla(s);
            return {static_cast<double>(shape.kv_len), static_cast<double>(shape.batch),
                    static_cast<double>(shape.heads)};
          },
          [](std::span<const double> c) {
            return all_positive(c) && c[0] > 0.1 && c[1] > .05 && c[2] > .01 && c[3] > .01;
          },
          {{50, .8, .6, .5, 2, 50}, {300, .8, .5, .2, 2, 50}}};
}

OperationFamily attention_family(bool decode) {
  OperationFamily f;
  f.domain = [](const KernelShape& s) { return domain_of(attention(s)); };
  f.roofline_us = [](const Machine& m, const KernelShape& s) {
    return attention_roofline_us(m, attention(s));
  };
  if (decode) {
    f.constants = kDecodeConstants;
    f.features = kDecodeFeatures;
    f.analytic = [](const Machine& m, std::span<const double> c, const KernelShape& s) {
      return of_attention(decode_analytic(m, c, attention(s)));
    };
    f.fill = [](const Machine& m, const OperationAnalytic& a, const KernelShape& s, std::span<float> out) {
      decode_features(m, to_attention(a), attention(s), out);
    };
    f.valid = [](std::span<const double> c) { return c[0] > 0.1 && c[1] > 0.05 && c[2] >= 0; };
    f.starts = {{9.8, .88, .027}};
    return f;
  }
  f.constants = kPrefillConstants;
  f.features = kPrefillFeatures;
  f.analytic = [](const Machine& m, std::span<const double> c, const KernelShape& s) {
    return of_attention(prefill_analytic(m, c, attention(s)));
  };
  f.fill = [](const Machine& m, const OperationAnalytic& a, const KernelShape& s, std::span<float> out) {
    prefill_features(m, to_attention(a), attention(s), out);
  };
  f.valid = [](std::span<const double> c) {
    return c[0] > 0.1 && c[1] > 0.05 && c[1] < 2 && c[2] >= 0 && c[3] >= 0 && c[4] >= 0 && c[5] >= 0 &&
           c[6] > 0.05 && c[7] >= 0 && c[8] >= 1;
  };
  for (int tiling = 0; tiling < kTilings; ++tiling)
    f.starts.push_back({9.4, 1.3, 250, 1.7, 1.1, 2.3, .8, .15, 2.3, static_cast<double>(tiling)});
  return f;
}

OperationFamily gemm_family() {
  return {kLowGemmConstants,
          kLowGemmFeatures,
          [](const Machine& m, std::span<const double> c, const KernelShape& s) {
            return low_gemm_analytic(m, c, gemm(s));
          },
          [](const Machine& m, const OperationAnalytic& a, const KernelShape& s, std::span<float> out) {
            low_gemm_features(m, a, gemm(s), out);
          },
          [](const Machine& machine, const KernelShape& shape) {
            const GemmShape& s = gemm(shape);
            const DtypeCost& cost = cost_of(s.dtype);
            const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n),
                       k = static_cast<double>(s.k);
            return std::max(2 * m * n * k / tensor_rate(machine, s.dtype),
                            (cost.activation_bytes * m * k + cost.weight_bytes * n * k + 2 * m * n) /
                                machine.bytes_per_us);
          },
          [](const KernelShape& s) { return domain_of(gemm(s)); },
          [](std::span<const double> c) {
            return c[0] > 0.1 && c[1] > 0.05 && c[2] >= 1 && c[2] < 20 && c[3] > 0.01 && c[4] >= 0 &&
                   c[5] >= 0 && c[5] <= 1 && c[6] > 0 && c[7] >= 0 && c[8] >= 0 && c[9] >= 0 &&
                   std::abs(c[10]) < 2 && c[11] >= 0 && c[12] >= 0;
          },
          {low_gemm({2.7, .84, 2.4, .8, .03, .4, 300, 2.2, 1.1, .035, -.12}, 1, 1),
           low_gemm({3.45, .78, 2.4, .9, .20, .75, 400, 1.2, .28, .056, -.32}, 1, 3)}};
}

OperationFamily moe_family() {
  return {kMoeConstants,
          kMoeFeatures,
          [](const Machine& m, std::span<const double> c, const KernelShape& s) {
            return moe_analytic(m, c, moe(s));
          },
          [](const Machine& m, const OperationAnalytic& a, const KernelShape& s, std::span<float> out) {
            moe_features(m, a, moe(s), out);
          },
          [](const Machine& m, const KernelShape& s) {
            constexpr std::array<double, 8> ideal{0, 1, 50, 1, 0, 0, 0, 0};
            return moe_analytic(m, ideal, moe(s)).us;
          },
          [](const KernelShape& s) -> std::array<double, 3> {
            const MoeShape& shape = moe(s);
            return {static_cast<double>(shape.tokens),
                    static_cast<double>(shape.hidden) * static_cast<double>(shape.inter) /
                        static_cast<double>(shape.tp),
                    static_cast<double>(shape.experts) / static_cast<double>(shape.ep)};
          },
          [](std::span<const double> c) {
            return all_positive(c) && c[0] > 0.1 && c[1] > .05 && c[2] >= 1 && c[2] < 20 && c[3] > .01 &&
                   c[4] <= 1;
          },
          {{20, .8, 2.5, .6, .3, 1, 1, .5}, {45, .9, 2, .6, .4, 1, 1, 5}}};
}

OperationFamily grouped_family() {
  return {kMoeConstants,
          kGroupedFeatures,
          [](const Machine& m, std::span<const double> c, const KernelShape& s) {
            return grouped_analytic(m, c, grouped(s));
          },
          [](const Machine& m, const OperationAnalytic& a, const KernelShape& s, std::span<float> out) {
            grouped_features(m, a, grouped(s), out);
          },
          [](const Machine& m, const KernelShape& s) {
            constexpr std::array<double, 8> ideal{0, 1, 50, 1, 0, 0, 0, 0};
            return grouped_analytic(m, ideal, grouped(s)).us;
          },
          [](const KernelShape& s) -> std::array<double, 3> {
            const GroupedGemmShape& shape = grouped(s);
            return {static_cast<double>(shape.tokens * shape.topk),
                    static_cast<double>(shape.hidden) * static_cast<double>(shape.inter),
                    static_cast<double>(shape.experts)};
          },
          [](std::span<const double> c) {
            return all_positive(c) && c[0] > 0.1 && c[1] > .05 && c[2] >= 1 && c[2] < 20 && c[3] > .01 &&
                   c[4] <= 1;
          },
          {{8, .8, 2.5, .7, .3, .5, 1, 0}}};
}

OperationFamily collective_family() {
  return {
      kCollectiveConstants,
      0,
      [](const Machine& m, std::span<const double> c, const KernelShape& s) {
        OperationAnalytic out;
        out.launch_us = c[0];
        out.memory_us = sent_bytes(collective(s)) / (m.link_bytes_per_us * c[1]);
        out.us = out.launch_us + out.memory_us;
        return out;
      },
      nullptr,
      [](const Machine& m, const KernelShape& s) { return sent_bytes(collective(s)) / m.link_bytes_per_us; },
      [](const KernelShape& s) -> std::array<double, 3> {
        const CollectiveShape& shape = collective(s);
        return {bytes_of(shape), static_cast<double>(shape.gpus), 1};
      },
      [](std::span<const double> c) { return c[0] > 0.1 && c[1] > .01; },
      {{12, .7}}};
}

}  // namespace

const OperationFamily& family_of(OperationKind kind) {
  static const std::array<OperationFamily, kOperationKinds> families{
      gemm_family(),          attention_family(false),
      attention_family(true), moe_family(),
      grouped_family(),       mla_family(),
      mla_family(),           mla_family(),
      mla_family(),           collective_family()};
  return families[static_cast<std::size_t>(kind)];
}

}  // namespace plumbline
