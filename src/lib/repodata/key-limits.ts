import { enums, type Key, type SignaturePacket } from "openpgp";

/**
 * The largest numbers of keys in use. FIPS 186-4 and GnuPG end at these sizes for DSA. OpenSSL verifies no larger RSA
 * key, and no large exponent.
 */
const maxBits = { dsa: { p: 3072, q: 256 }, rsa: { n: 16_384, e: 64 } };
/** Each is verified while the key is read. DSA takes some 5 ms for each, and a brainpool curve 30 ms. */
const maxSignatures = { dsa: 8, brainpool: 4, others: 32 };

/**
 * Why a key takes too long to verify: its author chose the sizes of its numbers, on which the time depends. The end of a
 * sentence. Undefined for a key that may be verified.
 */
export function whyCostly(key: Key): string | undefined {
  const parts = key.getKeys().map(({ keyPacket }) => keyPacket);
  const isLarge = parts.some(
    ({ algorithm, publicParams }) =>
      (isDsa(algorithm) && exceeds(publicParams, maxBits.dsa)) ||
      (isRsa(algorithm) && exceeds(publicParams, maxBits.rsa)),
  );
  if (isLarge) return "is larger than a DSA key of 3072 bits, or an RSA key of 16,384 bits";
  const most = Math.min(...parts.map((part) => maxSignatures[paceOf(part)]));
  const id = key.getKeyID();
  const own = key.toPacketList().filterByTag(enums.packet.signature) as SignaturePacket[];
  // openpgp verifies no signature of another key.
  return own.filter(({ issuerKeyID }) => issuerKeyID.equals(id)).length > most
    ? `has more than ${most} signatures by itself: export it with --export-options export-minimal`
    : undefined;
}

/** No runtime has brainpool curves, so openpgp computes with them in JavaScript. */
function paceOf(part: ReturnType<Key["getKeys"]>[number]["keyPacket"]): keyof typeof maxSignatures {
  if (isDsa(part.algorithm)) return "dsa";
  return part.getAlgorithmInfo().curve?.startsWith("brainpool") ? "brainpool" : "others";
}

const isDsa = (algorithm: enums.publicKey): boolean => algorithm === enums.publicKey.dsa;

const isRsa = (algorithm: enums.publicKey): boolean =>
  [enums.publicKey.rsaEncryptSign, enums.publicKey.rsaSign, enums.publicKey.rsaEncrypt].includes(algorithm);

/** Whether a number of the key has more bits than allowed. */
const exceeds = (numbers: object, limits: Readonly<Record<string, number>>): boolean =>
  Object.entries(numbers).some(
    ([name, bytes]) => bytes instanceof Uint8Array && bytes.byteLength * 8 > (limits[name] ?? Infinity),
  );
