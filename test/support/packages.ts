import { int32, least, makeHeader, makeRpm, type Tags, text, texts } from "../repodata/rpm-maker.ts";

/** A valid binary RPM; its signature header contains its length, as rpmbuild writes it. */
export function rpmOf(
  name: string,
  { version = "1.0", arch = "noarch", payload = "payload" }: { version?: string; arch?: string; payload?: string } = {},
): Uint8Array<ArrayBuffer> {
  const provides: Tags = { 1047: texts(name), 1112: int32(8), 1113: texts(`${version}-1`) };
  const facts: Tags = {
    1000: text(name),
    1001: text(version),
    1022: text(arch),
    1044: text(`${name}-${version}-1.src.rpm`),
  };
  return withLength({ ...least, ...facts, ...provides }, payload);
}

/** A source RPM, which cannot be installed. */
export function sourceRpmOf(name: string): Uint8Array<ArrayBuffer> {
  const { 1044: _builtFrom, ...rest } = least;
  const tags: Tags = { ...rest, 1000: text(name), 1106: int32(1) };
  return withLength(tags, "payload");
}

function withLength(tags: Tags, payload: string): Uint8Array<ArrayBuffer> {
  const length = makeHeader(tags).byteLength + payload.length;
  return Uint8Array.from(makeRpm(tags, { signature: { 1000: int32(length) }, payload }));
}
