import { arrayOf, bool, digest, document, fields, id, int, marked, oneOf, text } from "#openapi/shape";

const upload = { id: id(5), filename: text("counter-1.4-1.x86_64.rpm"), size: int(48_120), archive: bool(false) };
const checksum = marked({ type: oneOf("md5") }, digest("7b1f3a0c5d9e4e0f8a2b6c1d3e5f7a90"));

export const rpm = document("Rpm", "rpm", fields({ ...upload, base_system: text("tiny-1.0"), checksum }));
export const rpms = document(
  "Rpms",
  "rpms",
  arrayOf("rpm", fields({ ...upload, checksum }), { base_system: text("tiny-1.0") }),
);
