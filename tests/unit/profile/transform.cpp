// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/profile/transform.h"

#include <sqlite3.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace plumbline::test {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Code points of the text that is valid UTF-8 without four-byte characters (the variants' text).
std::string utf16(const std::string& text, bool little) {
  std::string out;
  const auto put = [&](unsigned unit) {
    const char low = static_cast<char>(unit & 0xFF);
    const char high = static_cast<char>(unit >> 8);
    out.push_back(little ? low : high);
    out.push_back(little ? high : low);
  };
  put(0xFEFF);
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = [&](std::size_t k) { return static_cast<unsigned char>(text[i + k]) & 0x3FU; };
    if (c < 0x80) {
      put(c);
      i += 1;
    } else if (c < 0xE0) {
      put((c & 0x1FU) << 6 | next(1));
      i += 2;
    } else {
      put((c & 0xFU) << 12 | next(1) << 6 | next(2));
      i += 3;
    }
  }
  return out;
}

std::string crlf(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? "\r\n" : std::string(1, c);
  return out;
}

std::string gzip(const std::string& text) {
  std::string out(text.size() + 1024, '\0');
  z_stream z{};
  deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(out.size() - z.avail_out);
  deflateEnd(&z);
  return out;
}

}  // namespace

void write_transformed(const std::string& from, const std::string& to, const std::string& transform) {
  std::string text = read(from);
  if (transform == "utf16le")
    text = utf16(text, true);
  else if (transform == "utf16be")
    text = utf16(text, false);
  else if (transform == "utf16le_crlf")
    text = utf16(crlf(text), true);
  else if (transform == "bom")
    text = "\xEF\xBB\xBF" + text;
  else if (transform == "crlf")
    text = crlf(text);
  else if (transform == "gzip")
    text = gzip(text);
  else if (transform == "gzip_cut")
    text = gzip(text).substr(0, 60);
  else if (transform.starts_with("cut:"))
    text = text.substr(0, std::stoul(transform.substr(4)));
  else
    throw std::runtime_error("no transform " + transform);
  std::ofstream(to, std::ios::binary) << text;
}

void database_from_sql(const std::string& from, const std::string& to) {
  std::filesystem::remove(to);
  sqlite3* db = nullptr;
  char* message = nullptr;
  const bool fine = sqlite3_open(to.c_str(), &db) == SQLITE_OK &&
                    sqlite3_exec(db, "PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF", nullptr, nullptr,
                                 nullptr) == SQLITE_OK &&
                    sqlite3_exec(db, read(from).c_str(), nullptr, nullptr, &message) == SQLITE_OK;
  const std::string why = message != nullptr ? message : "";
  sqlite3_free(message);
  sqlite3_close(db);
  if (!fine) throw std::runtime_error(from + ": " + why);
}

}  // namespace plumbline::test
