// SPDX-License-Identifier: Apache-2.0
#include "plumbline/bench/python/unicode.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/ucnv.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <vector>

#include "plumbline/base/text.h"

namespace plumbline::python {
namespace {

/// Names that CPython's table has beyond ICU's: the control codes, and the abbreviations of NameAliases.txt
/// in common use. ICU names the corrections alone.
constexpr auto kAliases = std::to_array<std::string_view>({
    "null",
    "start of heading",
    "start of text",
    "end of text",
    "end of transmission",
    "enquiry",
    "acknowledge",
    "alert",
    "backspace",
    "character tabulation",
    "horizontal tabulation",
    "line feed",
    "new line",
    "end of line",
    "line tabulation",
    "vertical tabulation",
    "form feed",
    "carriage return",
    "shift out",
    "locking-shift one",
    "shift in",
    "locking-shift zero",
    "data link escape",
    "device control one",
    "device control two",
    "device control three",
    "device control four",
    "negative acknowledge",
    "synchronous idle",
    "end of transmission block",
    "cancel",
    "end of medium",
    "substitute",
    "escape",
    "information separator four",
    "file separator",
    "information separator three",
    "group separator",
    "information separator two",
    "record separator",
    "information separator one",
    "unit separator",
    "delete",
    "padding character",
    "high octet preset",
    "break permitted here",
    "no break here",
    "index",
    "next line",
    "start of selected area",
    "end of selected area",
    "character tabulation set",
    "horizontal tabulation set",
    "character tabulation with justification",
    "line tabulation set",
    "vertical tabulation set",
    "partial line forward",
    "partial line down",
    "partial line backward",
    "partial line up",
    "reverse line feed",
    "reverse index",
    "single shift two",
    "single-shift-2",
    "single shift three",
    "single-shift-3",
    "device control string",
    "private use one",
    "private use-1",
    "private use two",
    "private use-2",
    "set transmit state",
    "cancel character",
    "message waiting",
    "start of guarded area",
    "start of protected area",
    "end of guarded area",
    "end of protected area",
    "start of string",
    "single graphic character introducer",
    "single character introducer",
    "control sequence introducer",
    "string terminator",
    "operating system command",
    "privacy message",
    "application program command",
    "byte order mark",
    "bom",
    "zwnbsp",
    "nul",
    "soh",
    "stx",
    "etx",
    "eot",
    "enq",
    "ack",
    "bel",
    "bs",
    "tab",
    "ht",
    "lf",
    "nl",
    "eol",
    "vt",
    "ff",
    "cr",
    "so",
    "si",
    "dle",
    "dc1",
    "dc2",
    "dc3",
    "dc4",
    "nak",
    "syn",
    "etb",
    "can",
    "eom",
    "em",
    "sub",
    "esc",
    "fs",
    "gs",
    "rs",
    "us",
    "sp",
    "del",
    "pad",
    "hop",
    "bph",
    "nbh",
    "ind",
    "nel",
    "ssa",
    "esa",
    "hts",
    "htj",
    "vts",
    "pld",
    "plu",
    "ri",
    "ss2",
    "ss3",
    "dcs",
    "pu1",
    "pu2",
    "sts",
    "cch",
    "mw",
    "spa",
    "epa",
    "sos",
    "sgc",
    "sci",
    "csi",
    "st",
    "osc",
    "pm",
    "apc",
    "nbsp",
    "shy",
    "cgj",
    "alm",
    "zwsp",
    "zwnj",
    "zwj",
    "lrm",
    "rlm",
    "lre",
    "rle",
    "pdf",
    "lro",
    "rlo",
    "nnbsp",
    "mmsp",
    "wj",
    "lri",
    "rli",
    "fsi",
    "pdi",
});

icu::UnicodeString from_utf8(std::string_view text) {
  return icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())));
}

}  // namespace

bool is_identifier(std::string_view text) {
  const icu::UnicodeString wide = from_utf8(text);
  for (std::int32_t i = 0; i < wide.length(); i = wide.moveIndex32(i, 1)) {
    const UChar32 c = wide.char32At(i);
    if (c == '_') continue;
    if (!u_hasBinaryProperty(c, i == 0 ? UCHAR_XID_START : UCHAR_XID_CONTINUE)) return false;
  }
  return !wide.isEmpty();
}

std::string normalize_identifier(std::string_view text) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* nfkc = icu::Normalizer2::getNFKCInstance(status);
  if (U_FAILURE(status)) return std::string(text);
  std::string out;
  const icu::UnicodeString normal = nfkc->normalize(from_utf8(text), status);
  return U_FAILURE(status) ? std::string(text) : normal.toUTF8String(out);
}

bool is_character_name(std::string_view name) {
  if (name.empty() || name.size() > 120) return false;
  const std::string lower = to_lower(name);
  if (std::find(kAliases.begin(), kAliases.end(), lower) != kAliases.end()) return true;
  for (const UCharNameChoice choice : {U_UNICODE_CHAR_NAME, U_CHAR_NAME_ALIAS}) {
    UErrorCode status = U_ZERO_ERROR;
    u_charFromName(choice, lower.c_str(), &status);
    if (U_SUCCESS(status)) return true;
  }
  // CPython: variation selectors count under their abbreviation too, VS1 to VS256.
  return lower.starts_with("vs") && lower.size() > 2 &&
         std::all_of(lower.begin() + 2, lower.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::string> decode(std::string_view bytes, const std::string& encoding) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max() / 4))
    return std::nullopt;
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<UConverter, decltype(&ucnv_close)> converter(ucnv_open(encoding.c_str(), &status),
                                                                     &ucnv_close);
  if (U_FAILURE(status)) return std::nullopt;
  ucnv_setToUCallBack(converter.get(), UCNV_TO_U_CALLBACK_STOP, nullptr, nullptr, nullptr, &status);
  const auto to_wide = [&](std::string_view text) {
    std::vector<UChar> wide(text.size() * 2 + 1);
    ucnv_reset(converter.get());
    const std::int32_t length =
        ucnv_toUChars(converter.get(), wide.data(), static_cast<std::int32_t>(wide.size()), text.data(),
                      static_cast<std::int32_t>(text.size()), &status);
    return U_FAILURE(status) ? icu::UnicodeString() : icu::UnicodeString(wide.data(), length);
  };
  if (to_wide("#a1=(") != icu::UnicodeString("#a1=(")) return std::nullopt;
  std::string out;
  to_wide(bytes).toUTF8String(out);
  return U_FAILURE(status) ? std::nullopt : std::optional(std::move(out));
}

}  // namespace plumbline::python
