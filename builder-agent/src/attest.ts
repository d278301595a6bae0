/** Reads signed provenance. The Worker writes it with the same code. */
export {
  imageAmong,
  provenanceSuffix,
  publicKeyOf,
  readEnvelope,
  type PublicKey,
  type Unproven,
} from "../../src/lib/attest/envelope.ts";
export { packageListDigest, packageListName } from "../../src/lib/attest/package-list.ts";
