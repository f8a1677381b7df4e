// SPDX-License-Identifier: Apache-2.0
// Hardware: a GPU's description, the value that files under hardware/ hold.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace plumbline {

/// What the vendor's data sheet says.
struct DataSheet {
  std::string product;
  std::string url_or_document;  ///< where the figures stand
  std::int64_t sm_count = 0;
  double hbm_bandwidth_gbps = 0;  ///< 10⁹ bytes/s
  double bf16_tflops = 0;         ///< dense tensor-core peak
  std::int64_t l2_bytes = 0;
  std::int64_t hbm_bytes = 0;
  double fp8_tflops = 0;  ///< dense; 0: the tensor cores do not have it
  double fp4_tflops = 0;  ///< the same
  double link_gbps = 0;   ///< to the other GPUs of a host, one way; 0: not known
};

/// Constants of the proxy model (a fixed roofline; see docs/model-proxy.md). Gbps are 10⁹ bytes/s.
struct ProxyConstants {
  double hbm_bandwidth_gbps = 0;
  double rmsnorm_gbps = 0;
  double rmsnorm_gbps_small = 0;
  double qk_norm_rope_gbps = 0;
  double qk_norm_rope_separate_gbps = 0;
  double geglu_gbps = 0;
  double matmul_tflops = 0;
  double matmul_tflops_small = 0;
  double attention_tflops = 0;
  double residual_add_gbps = 0;
};

struct KernelSource;  // model/measured.h: constants and residual trees fitted to one framework's kernels

/// One GPU. `sources` hold the measured models; the first is the default one.
struct Hardware {
  std::string name;  ///< "h200"
  DataSheet sheet;
  std::optional<ProxyConstants> proxy;
  std::string proxy_source;  ///< where the proxy's constants come from
  std::vector<std::shared_ptr<const KernelSource>> sources;
};

}  // namespace plumbline
