import {
  arrayOf,
  bool,
  digest,
  document,
  fields,
  id,
  int,
  marked,
  oneOf,
  optional,
  text,
  url,
} from "#openapi/shape";

const facts = {
  id: id(12),
  name: text("Tiny Linux 1.0 main"),
  type: oneOf("rpm-md", "yast2"),
  base_system: text("tiny-1.0"),
  base_url: optional(url("https://kiln.example.org/repositories/tiny/main")),
};

export const repositories = document("Repositories", "repositories", arrayOf("repository", fields(facts)));
/** Only the ids count. */
export const wantedRepositories = document(
  "WantedRepositories",
  "repositories",
  arrayOf("repository", fields({ id: id(12) })),
);

const upload = { id: id(5), filename: text("counter-1.4-1.x86_64.rpm"), size: int(48_120), archive: bool(false) };
const checksum = marked({ type: oneOf("md5") }, digest("7b1f3a0c5d9e4e0f8a2b6c1d3e5f7a90"));

export const rpm = document("Rpm", "rpm", fields({ ...upload, base_system: text("tiny-1.0"), checksum }));
export const rpms = document(
  "Rpms",
  "rpms",
  arrayOf("rpm", fields({ ...upload, checksum }), { base_system: text("tiny-1.0") }),
);
