/**
 * Reads the public log. The service writes it with the same code, which is tested against the definitions of RFC 6962.
 */
export { isSignedBy, readCheckpoint, type Checkpoint } from "../../src/lib/attest/log/checkpoint.ts";
export { cosignatureLine, cosignersOf } from "../../src/lib/attest/log/cosignature.ts";
export { continues } from "../../src/lib/attest/log/history.ts";
export { readKey, writeKey, type KeyType, type NamedKey } from "../../src/lib/attest/log/note.ts";
export { entryOf, proofSuffix, provenCheckpoint, readProof, type LoggedImage } from "../../src/lib/attest/log/proof.ts";
export { judge, readSubmission } from "../../src/lib/attest/log/witness.ts";
export { publicKeyFrom } from "../../src/lib/attest/signing-key.ts";
