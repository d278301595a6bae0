/** Reads signed statements. The service writes them with the same code. */
export {
  billSuffixes,
  imageAmong,
  provenanceSuffix,
  publicKeyOf,
  readEnvelope,
  type Opened,
  type PublicKey,
  type Subject,
} from "../../src/lib/attest/envelope.ts";
export { packageListName } from "../../src/lib/attest/package-list.ts";
