#include "wire/quotas.hpp"

#include "wire/form/fields.hpp"

namespace stria::wire {

namespace {

constexpr uint64_t kMostAccounts = 4;  // the accounts that a file counts for

QuotaKind get_kind(Reader& reader) {
  const auto number = reader.fixed<uint8_t>();
  if (number > static_cast<uint8_t>(QuotaKind::kDirectory)) {
    reader.fail();
  }
  return static_cast<QuotaKind>(number);
}

}  // namespace

Status over_quota(std::string why) {
  return Status(ErrorCode::kNoSpace, std::move(why), ErrorReason::kOverQuota);
}

bool is_over_quota(const Status& status) {
  return status.reason() == ErrorReason::kOverQuota;
}

void Account::put(Writer& writer) const {
  writer.fixed(static_cast<uint8_t>(kind));
  writer.natural(id);
}

void Account::get(Reader& reader) {
  kind = get_kind(reader);
  id = reader.natural();
}

void SetQuota::put(Writer& writer) const {
  writer.fixed(static_cast<uint8_t>(kind));
  writer.natural(uid);
  writer.text(path);
  put_natural(writer, bytes);
  put_natural(writer, files);
}

void SetQuota::get(Reader& reader) {
  kind = get_kind(reader);
  uid = static_cast<uint32_t>(reader.natural_up_to(UINT32_MAX));
  path = reader.text(kMaxPathBytes);
  bytes = reader.offset();
  files = reader.offset();
}

void Quotas::put(Writer& writer) const {
  put_list(writer, entries, [&](const Entry& entry) {
    entry.account.put(writer);
    writer.text(entry.path);
    for (const int64_t number : {entry.bytes_limit, entry.files_limit, entry.bytes, entry.files}) {
      put_natural(writer, number);
    }
  });
  put_flag(writer, counted);
}

void Quotas::get(Reader& reader) {
  get_list(reader, entries, kMaxListed, [&](Entry& entry) {
    entry.account.get(reader);
    entry.path = reader.text(kMaxPathBytes);
    for (int64_t* number : {&entry.bytes_limit, &entry.files_limit, &entry.bytes, &entry.files}) {
      *number = reader.offset();
    }
  });
  counted = get_flag(reader);
}

void Usage::put(Writer& writer) const {
  writer.bytes(server);
  put_flag(writer, complete);
  put_list(writer, parts, [&](const Entry& entry) {
    writer.fixed(entry.part);
    put_natural(writer, entry.bytes);
  });
}

void Usage::get(Reader& reader) {
  get_bytes(reader, server);
  complete = get_flag(reader);
  get_list(reader, parts, kMaxListed, [&](Entry& entry) {
    entry.part = reader.fixed<uint64_t>();
    entry.bytes = reader.offset();
  });
}

void UsageAnswer::put(Writer& writer) const {
  put_flag(writer, counts);
  put_list(writer, accounts, [&](const std::vector<Account>& some) {
    put_list(writer, some, [&](const Account& account) { account.put(writer); });
  });
  put_list(writer, over, [&](const Over& one) {
    one.account.put(writer);
    writer.text(std::string_view(one.why).substr(0, kMaxTextBytes));
  });
}

void UsageAnswer::get(Reader& reader) {
  counts = get_flag(reader);
  get_list(reader, accounts, kMaxListed, [&](std::vector<Account>& some) {
    get_list(reader, some, kMostAccounts, [&](Account& account) { account.get(reader); });
  });
  get_list(reader, over, kMaxListed, [&](Over& one) {
    one.account.get(reader);
    one.why = reader.text(kMaxTextBytes);
  });
}

}  // namespace stria::wire
