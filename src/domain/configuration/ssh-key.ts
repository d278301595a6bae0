import { Buffer } from "node:buffer";
import { isLine } from "#domain/configuration/rules";

/** The fields of a public key after its type (RFC 4253 §6.6, RFC 5656 §3.1, RFC 8709 §4, OpenSSH's PROTOCOL.u2f). */
const fieldsOf: ReadonlyMap<string, number> = new Map([
  ["ssh-ed25519", 1],
  ["ssh-rsa", 2],
  ["ecdsa-sha2-nistp256", 2],
  ["ecdsa-sha2-nistp384", 2],
  ["ecdsa-sha2-nistp521", 2],
  ["sk-ssh-ed25519@openssh.com", 2],
  ["sk-ecdsa-sha2-nistp256@openssh.com", 3],
]);

const leastRsaBits = 2048;
const longest = 8192;

/** Why a line is not valid in `authorized_keys`, without a full stop. Undefined if it is a public key. */
export function whyNoSshKey(line: string): string | undefined {
  if (/PRIVATE KEY/.test(line))
    return "this is a private key, which you should give to no one: use the public key, in the file that ends with .pub";
  const [type = "", base64 = ""] = line.split(" ");
  if (type === "ssh-dss")
    return "DSA keys are refused, because OpenSSH no longer accepts them: make one with ssh-keygen -t ed25519";
  const wanted = fieldsOf.get(type);
  if (wanted === undefined) return "must begin with the type of the key, such as ssh-ed25519 or ssh-rsa";
  if (!isLine(line, longest)) return `must be one line of at most ${longest} characters for each key`;
  const fields = partsOf(base64);
  if (fields?.[0]?.toString() !== type || fields.length !== wanted + 1)
    return `the ${type} key is truncated or damaged: copy its whole line`;
  return type === "ssh-rsa" ? whyWeak(fields[2]) : whyShort(type, fields[1]);
}

/** The fields of a key, each of which follows its length. Undefined if the fields do not fill the key exactly. */
function partsOf(base64: string): Buffer[] | undefined {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.toString("base64").replace(/=+$/, "") !== base64.replace(/=+$/, "")) return undefined;
  const parts: Buffer[] = [];
  let at = 0;
  while (at + 4 <= bytes.length) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) return undefined;
    parts.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return at === bytes.length ? parts : undefined;
}

function whyWeak(modulus = Buffer.alloc(0)): string | undefined {
  const bits = modulus.toString("hex").replace(/^0+/, "").length * 4;
  if (bits >= leastRsaBits) return undefined;
  return `an RSA key of ${bits} bits is too weak: it needs ${leastRsaBits}, or make one with ssh-keygen -t ed25519`;
}

const whyShort = (type: string, key = Buffer.alloc(0)): string | undefined =>
  type.includes("ed25519") && key.length !== 32
    ? `the ${type} key is truncated or damaged: copy its whole line`
    : undefined;
