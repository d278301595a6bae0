import type { Affected } from "#domain/advisories/affected";
import { Refusal } from "#domain/refusal";
import { vexJustifications, vexStatuses } from "#lib/advisories/vex";
import type { Appliance } from "#storage/appliances";
import { findAnyBuild } from "#storage/builds";
import type { Database } from "#storage/db";
import { deleteStatement, saveStatement, type VexStatement } from "#storage/vex-statements";

/** How many statements an appliance may have. */
const maxStatements = 500;
const maxText = 1000;

interface Stated {
  advisory: string;
  /** The only image that the statement is about. Undefined for all images of the appliance. */
  buildId?: number | undefined;
  status?: string | undefined;
  justification?: string | undefined;
  text?: string | undefined;
}

/** States how an advisory affects one image, or all images of an appliance. Replaces an earlier statement. */
export async function stateVex(db: Database, appliance: Appliance, stated: Stated): Promise<void> {
  const { id: applianceId } = appliance;
  const buildId = await ownBuild(db, applianceId, stated.buildId);
  const row = { ...checked(stated), applianceId, buildId, statedAt: new Date() };
  if (await saveStatement(db, row, maxStatements)) return;
  throw new Refusal("unknown_error", {
    message: `An appliance can have at most ${maxStatements} statements about advisories. Withdraw one of them.`,
  });
}

export async function withdrawVex(
  db: Database,
  { id: applianceId }: Appliance,
  { advisory, buildId = 0 }: Pick<Stated, "advisory" | "buildId">,
): Promise<void> {
  if (await deleteStatement(db, { applianceId, advisory: nameIn(advisory), buildId })) return;
  throw new Refusal("unknown_error", { reason: "unknown", message: `Nothing is stated about ${nameIn(advisory)}.` });
}

/**
 * Finds the statement that applies to an advisory about an image. A statement about this image has precedence, and then
 * one with the advisory's own id. A statement about an announcement (DSA) applies to each advisory whose fix it
 * announces.
 */
export function statementsOf(all: readonly VexStatement[], buildId: number) {
  const byName = Map.groupBy(all, ({ advisory }) => advisory);
  return ({ id, aliases }: Pick<Affected, "id" | "aliases">): VexStatement | undefined => {
    const about = [id, ...aliases].flatMap((name) => byName.get(name.toUpperCase()) ?? []);
    return about.find((one) => one.buildId === buildId) ?? about.find((one) => one.buildId === 0);
  };
}

async function ownBuild(db: Database, applianceId: number, buildId: number | undefined): Promise<number> {
  if (buildId === undefined) return 0;
  const build = await findAnyBuild(db, buildId);
  if (build?.applianceId !== applianceId) throw new Refusal("invalid_build_id", { reason: "unknown" });
  return buildId;
}

function checked({
  advisory,
  status: givenStatus,
  justification: givenJustification,
  text: given = "",
}: Stated): Pick<VexStatement, "advisory" | "status" | "justification" | "text"> {
  const status = vexStatuses.find((one) => one === givenStatus);
  if (!status) throw wrong(`The status must be ${vexStatuses.join(" or ")}.`);
  const justification = vexJustifications.find((one) => one === givenJustification) ?? null;
  if ((status === "not_affected") !== (justification !== null)) {
    throw wrong(
      status === "not_affected"
        ? `Give one of these reasons as the justification: ${vexJustifications.join(", ")}.`
        : "Only not_affected has a justification.",
    );
  }
  const text = given.trim().toWellFormed();
  if (text === "" || text.length > maxText) throw wrong(`Explain it in a text of at most ${maxText} characters.`);
  return { advisory: nameIn(advisory), status, justification, text };
}

function nameIn(advisory: string): string {
  const name = advisory.toUpperCase();
  if (!/^[A-Z][A-Z0-9:._-]{2,63}$/.test(name)) throw wrong(`${advisory.slice(0, 64)} is not the id of an advisory.`);
  return name;
}

const wrong = (message: string) => new Refusal("invalid_value", { message });
