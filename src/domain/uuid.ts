import { Buffer } from "node:buffer";

/** The UUID of a name within a namespace, which is a UUID too (RFC 9562 §5.5, version 5). */
export async function uuidOf(namespace: string, name: string): Promise<string> {
  const input = Buffer.concat([Buffer.from(namespace.replaceAll("-", ""), "hex"), Buffer.from(name)]);
  const digest = Buffer.from(await crypto.subtle.digest("SHA-1", input)).subarray(0, 16);
  digest[6] = (digest.readUInt8(6) & 0x0f) | 0x50;
  digest[8] = (digest.readUInt8(8) & 0x3f) | 0x80;
  return digest.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
