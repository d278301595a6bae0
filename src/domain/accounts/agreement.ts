import { createHash } from "node:crypto";
import { Refusal } from "#domain/refusal";
import type { AgreementText } from "#model/catalogue";
import { addAcceptance, findAcceptance, listAllAcceptances } from "#storage/agreements";
import { findBaseSystem, listBaseSystems, type BaseSystem } from "#storage/appliances";
import type { Database } from "#storage/db";

/**
 * The current legal agreement of a base system, from its catalogue. If the text changes, it has to be accepted again.
 */
export interface Agreement extends AgreementText {
  baseSystem: string;
  /** The digest of the text, in hex. */
  sha256: string;
}

/** An account that is about to build or publish. `baseUrl` is the service's URL, for the link to the agreement. */
export interface AgreementQuestion {
  accountId: number;
  /** Undefined if no catalogue has the base system any longer. */
  base: Pick<BaseSystem, "name" | "facts"> | undefined;
  baseUrl: string;
}

/** Refused if the base system has no agreement. Most have none. */
export async function getAgreement(db: Database, baseSystem: string): Promise<Agreement> {
  const agreement = await findAgreement(db, baseSystem);
  if (agreement) return agreement;
  throw new Refusal("invalid_base_system", {
    reason: "unknown",
    message: "There is no agreement for this base system.",
  });
}

/** When the account accepted exactly this text. */
export async function acceptedAt(db: Database, accountId: number, agreement: Agreement): Promise<Date | undefined> {
  const { baseSystem, sha256: textSha256 } = agreement;
  return (await findAcceptance(db, { accountId, baseSystem, textSha256 }))?.acceptedAt;
}

/** Records that the account accepts the text. Repeating it changes nothing: the time of the first acceptance stays. */
export async function acceptAgreement(db: Database, accountId: number, agreement: Agreement): Promise<void> {
  const { baseSystem, sha256: textSha256 } = agreement;
  await addAcceptance(db, { accountId, baseSystem, textSha256, acceptedAt: new Date() });
}

/**
 * The message if the account has not accepted the agreement of this base system. Undefined if nothing needs to be
 * accepted.
 */
export async function missingAgreement(db: Database, asked: AgreementQuestion): Promise<string | undefined> {
  const agreement = asked.base && agreementOf(asked.base);
  if (!agreement || (await acceptedAt(db, asked.accountId, agreement))) return undefined;
  const page = `${asked.baseUrl}${agreementPath(agreement.baseSystem)}`;
  return `The agreement "${agreement.title}" has not been accepted yet. Read and accept it at ${page}`;
}

/** Refuses builds and publications without the agreement (docs/api/errors.md, `sle_agreement_missing`). */
export async function refuseWithoutAgreement(db: Database, asked: AgreementQuestion): Promise<void> {
  const message = await missingAgreement(db, asked);
  if (message !== undefined) throw new Refusal("sle_agreement_missing", { message });
}

export const agreementPath = (baseSystem: string): string => `/agreements/${encodeURIComponent(baseSystem)}`;

/** All acceptances, oldest first. `current` is true if the accepted text is the current one. */
export async function listAcceptances(db: Database) {
  const [all, baseSystems] = await Promise.all([listAllAcceptances(db), listBaseSystems(db)]);
  const current = new Map(baseSystems.map(({ name, facts }) => [name, facts.agreement && sha256Of(facts.agreement)]));
  return all.map((one) => ({ ...one, current: current.get(one.baseSystem) === one.textSha256 }));
}

async function findAgreement(db: Database, baseSystem: string): Promise<Agreement | undefined> {
  const base = await findBaseSystem(db, baseSystem);
  return base && agreementOf(base);
}

function agreementOf({ name, facts: { agreement } }: Pick<BaseSystem, "name" | "facts">): Agreement | undefined {
  return agreement && { ...agreement, baseSystem: name, sha256: sha256Of(agreement) };
}

const sha256Of = ({ text }: AgreementText): string => createHash("sha256").update(text).digest("hex");
