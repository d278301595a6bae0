/** How the public log is read. The service writes it with the same code, which has tests against the definitions of RFC 6962. */
export { isSignedBy, readCheckpoint, type Checkpoint } from "../../src/lib/attest/log/checkpoint.ts";
export { continues } from "../../src/lib/attest/log/history.ts";
export { entryOf, proofSuffix, provenCheckpoint, readProof, type LoggedImage } from "../../src/lib/attest/log/proof.ts";
