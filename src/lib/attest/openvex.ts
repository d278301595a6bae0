import { createHash } from "node:crypto";
import { moment } from "./sbom.ts";

/** The OpenVEX specification and its page on attesting: https://github.com/openvex/spec */
const vexType = "https://openvex.dev/ns/v0.2.0";

/** A statement of the owner of an image about a vulnerability, in place of the distribution's. */
interface OwnerStatement {
  status: "not_affected" | "under_investigation";
  justification: string | null;
  text: string;
  statedAt: Date;
}

/** How a vulnerability concerns the packages of an image. */
interface VexFinding {
  /** For example, `CVE-2026-1234`. */
  id: string;
  /** For example, `DSA-6001-1`. */
  aliases: string[];
  state: "fixed" | "open" | "undetermined" | "unimportant";
  source: string;
  /** The version of the source that fixes it. */
  fixed: string | undefined;
  /** Package URLs, as in the bills of materials. */
  packages: string[];
  statement?: OwnerStatement | undefined;
}

/** The facts of a VEX document. */
export interface VexFacts {
  image: { fileName: string; sha256: string };
  /** URI of the service: its URL, or a name derived from its key. */
  author: string;
  /** When the advisories were last read. */
  readAt: Date;
  findings: readonly VexFinding[];
}

/** An in-toto Statement v1 whose predicate is an OpenVEX document about an image. */
export function vexStatement({ image, author, readAt, findings }: VexFacts): object {
  const statements = findings.map((one) => statementOf(image, one));
  const stated = findings.flatMap(({ statement }) => statement?.statedAt.getTime() ?? []);
  const digest = createHash("sha256").update(JSON.stringify(statements)).digest("hex");
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: image.fileName, digest: { sha256: image.sha256 } }],
    predicateType: vexType,
    predicate: {
      "@context": vexType,
      "@id": `urn:kiln:vex:${image.sha256}:${readAt.getTime()}:${digest.slice(0, 16)}`,
      author,
      timestamp: moment(new Date(Math.max(readAt.getTime(), ...stated))),
      version: 1,
      tooling: "Kiln",
      statements,
    },
  };
}

const statementOf = (image: VexFacts["image"], one: VexFinding): object => ({
  vulnerability: { name: one.id, ...(one.aliases.length > 0 && { aliases: one.aliases }) },
  products: [
    {
      "@id": `pkg:generic/${encodeURIComponent(image.fileName)}?checksum=sha256:${image.sha256}`,
      hashes: { "sha-256": image.sha256 },
      subcomponents: one.packages.map((purl) => ({ "@id": purl })),
    },
  ],
  ...(one.statement ? statedBy(one.statement) : statusOf(one)),
});

const statedBy = ({ status, justification, text, statedAt }: OwnerStatement): object =>
  status === "not_affected"
    ? { status, timestamp: moment(statedAt), justification, impact_statement: text }
    : { status, timestamp: moment(statedAt), status_notes: text };

/** OpenVEX requires an action for what is affected, and a reason for what is not. */
function statusOf({ state, source, fixed }: VexFinding): object {
  switch (state) {
    case "fixed":
      return { status: "affected", action_statement: `Build the image again with ${source} ${fixed ?? ""}.` };
    case "open":
      return { status: "affected", action_statement: `The distribution has no fixed version of ${source} yet.` };
    case "undetermined":
      return { status: "under_investigation" };
    case "unimportant":
      return { status: "not_affected", impact_statement: "The distribution says that it does no harm." };
  }
}
