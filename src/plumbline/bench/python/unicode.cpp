// SPDX-License-Identifier: Apache-2.0
#include "plumbline/bench/python/unicode.h"

#include <iconv.h>
#include <unictype.h>
#include <uniname.h>
#include <uninorm.h>
#include <unistr.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <vector>

#include "plumbline/base/text.h"

namespace plumbline::python {
namespace {

/// Names that CPython's table has beyond the character database's own: the control codes, and the
/// abbreviations of NameAliases.txt in common use.
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

const std::uint8_t* units(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "CJK UNIFIED IDEOGRAPH-4E00": these are named by rule, not by a table. `lower` is the whole name in lower
/// case.
bool is_ideograph_name(std::string_view lower) {
  constexpr std::string_view kPrefix = "cjk unified ideograph-";
  if (!lower.starts_with(kPrefix)) return false;
  lower.remove_prefix(kPrefix.size());
  std::uint32_t point = 0;
  const auto [end, error] = std::from_chars(lower.data(), lower.data() + lower.size(), point, 16);
  return error == std::errc() && end == lower.data() + lower.size() &&
         (lower.size() == 4 || lower.size() == 5) && uc_is_property_unified_ideograph(point);
}

/// What libunistring's table has. It also takes "_" for a blank and letters behind a variation selector's
/// number, and spells the last sound of a Hangul syllable NI where the standard says NJ.
bool is_listed_name(std::string lower) {
  if (lower.find('_') != std::string::npos) return false;
  if (lower.starts_with("variation selector-") && !is_digit(lower.back())) return false;
  if (lower.starts_with("hangul syllable ")) {
    if (lower.ends_with("ni")) return false;
    if (lower.ends_with("nj")) lower.back() = 'i';
  }
  return unicode_name_character(lower.c_str()) != UNINAME_INVALID;
}

/// Python's names of encodings that the C library has under another name; both without "-" and "_".
constexpr std::array<std::pair<std::string_view, const char*>, 16> kEncodings{{
    {"8859", "latin1"},
    {"big5tw", "big5"},
    {"chinese", "gb2312"},
    {"iso8859", "latin1"},
    {"korean", "euckr"},
    {"ksc5601", "euckr"},
    {"ksx1001", "euckr"},
    {"l9", "iso885915"},
    {"latin", "latin1"},

    {"macroman", "macintosh"},
    {"ms1361", "johab"},
    {"ms949", "cp949"},
    {"ms950", "cp950"},
    {"mskanji", "sjis"},
    {"shiftjis", "sjis"},
    {"thai", "tis620"},
}};

class Converter {
 public:
  explicit Converter(const std::string& encoding) : handle_(iconv_open("UTF-8", encoding.c_str())) {}
  ~Converter() {
    if (known()) iconv_close(handle_);
  }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  bool known() const { return handle_ != reinterpret_cast<iconv_t>(-1); }

  /// All of `bytes` as UTF-8, or none where a byte has no meaning.
  std::optional<std::string> convert(std::string_view bytes) {
    iconv(handle_, nullptr, nullptr, nullptr, nullptr);
    std::string out;
    std::array<char, 4096> piece{};
    char* from = const_cast<char*>(bytes.data());  // iconv's interface; it only reads
    std::size_t left = bytes.size();
    for (bool flushed = false; !flushed;) {
      char* to = piece.data();
      std::size_t room = piece.size();
      flushed = left == 0;  // the last call writes what a converter with a state still holds
      const std::size_t done =
          flushed ? iconv(handle_, nullptr, nullptr, &to, &room) : iconv(handle_, &from, &left, &to, &room);
      if (done == static_cast<std::size_t>(-1)) {
        if (errno != E2BIG) return std::nullopt;
        flushed = false;
      }
      out.append(piece.data(), to);
    }
    return out;
  }

 private:
  iconv_t handle_;
};

}  // namespace

bool is_identifier(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    ucs4_t c = 0;
    const int length = u8_mbtouc(&c, units(text) + i, text.size() - i);
    if (c != '_' && !(i == 0 ? uc_is_property_xid_start(c) : uc_is_property_xid_continue(c))) return false;
    i += static_cast<std::size_t>(std::max(length, 1));
  }
  return !text.empty();
}

std::string normalize_identifier(std::string_view text) {
  std::size_t length = 0;
  const std::unique_ptr<std::uint8_t, decltype(&std::free)> normal(
      u8_normalize(UNINORM_NFKC, units(text), text.size(), nullptr, &length), &std::free);
  return normal ? std::string(reinterpret_cast<const char*>(normal.get()), length) : std::string(text);
}

bool is_character_name(std::string_view name) {
  if (name.empty() || name.size() > 120) return false;
  const std::string lower = to_lower(name);
  if (std::find(kAliases.begin(), kAliases.end(), lower) != kAliases.end()) return true;
  if (is_listed_name(lower)) return true;
  // CPython: variation selectors count under their abbreviation too, VS1 to VS256.
  return is_ideograph_name(lower) || (lower.starts_with("vs") && lower.size() > 2 &&
                                      std::all_of(lower.begin() + 2, lower.end(), is_digit));
}

std::optional<std::string> decode(std::string_view bytes, const std::string& encoding) {
  // Python reads "latin-1", "latin_1" and "latin1" as one name; the C library has some spellings of each.
  std::string dashes = encoding;
  std::replace(dashes.begin(), dashes.end(), '_', '-');
  std::string joined = dashes;
  std::erase(joined, '-');
  const auto other = std::find_if(kEncodings.begin(), kEncodings.end(),
                                  [&](const auto& each) { return each.first == joined; });
  if (other != kEncodings.end()) joined = other->second;
  const bool page = !joined.empty() && std::all_of(joined.begin(), joined.end(), is_digit);  // "1252"
  for (const std::string& name : {encoding, dashes, page ? "cp" + joined : joined}) {
    if (name.empty()) continue;  // the C library's word for the user's own locale
    Converter converter(name);
    if (!converter.known()) continue;
    if (converter.convert("#a1=(") != "#a1=(") return std::nullopt;
    return converter.convert(bytes);
  }
  return std::nullopt;
}

}  // namespace plumbline::python
