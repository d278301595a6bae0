import { missingAgreement } from "#domain/accounts/agreement";
import { noteEstimate } from "#domain/appliances/estimate";
import type { ExaminedRows } from "#domain/appliances/examined-rows";
import type { Issue } from "#domain/appliances/issue";
import { glanceAt, type Glance } from "#domain/appliances/overview";
import { examine, type ExaminedAppliance } from "#domain/appliances/status";
import { openRootIssue } from "#domain/configuration/known-passwords";
import type { Services } from "#domain/services";
import { readOnlyMessage, type ReadOnlyMode } from "#domain/service-settings";
import { listAbilities } from "#storage/agents";
import type { BaseSystemFacts } from "#model/catalogue";
import type { Appliance } from "#storage/appliances";

/** The data for the head of each page of an appliance. */
export interface Look extends Pick<Glance, "running" | "lastBuild" | "images" | "packages"> {
  /** The appliance with the current estimate of its size. */
  appliance: Appliance;
  /** Undefined if no catalogue has the base system any longer, or if the appliance belongs to another account. */
  base: Pick<BaseSystemFacts, "title" | "cannot"> | undefined;
  /** The problems that prevent a build, and facts that might surprise the user. */
  issues: readonly Issue[];
  /** The rows that decide the appliance's software. */
  rows: ExaminedRows;
  /** Undefined if the last examination is still valid. */
  examined?: ExaminedAppliance;
}

interface LookRequest {
  appliance: Appliance;
  accountId: number;
  baseUrl: string;
  readOnly: Promise<ReadOnlyMode>;
}

/**
 * Reads an appliance of the account for its pages. If the last examination found nothing, or only a known password of
 * root, and nothing has changed since, no resolution is needed.
 */
export async function lookAt(
  { env, db }: Services,
  { appliance, accountId, baseUrl, readOnly: mode }: LookRequest,
): Promise<Look> {
  const [readOnly, { rows, glance, isStale }] = await Promise.all([mode, glanceAt({ env, db }, appliance, accountId)]);
  const { base } = rows;
  const [agreement, openRoot] = await Promise.all([
    missingAgreement(db, { accountId, base, baseUrl }),
    openRootIssue(env, appliance, rows.template),
  ]);
  const { running = [], lastBuild, images = [], packages = null } = glance ?? {};
  const seen = { appliance, rows, running, lastBuild, images, packages, base: base?.facts };
  // Shows only this issue, because nothing else could be fixed now.
  if (readOnly.on) return { ...seen, issues: [{ type: "error", text: readOnlyMessage }] };
  const missing: Issue[] = agreement === undefined ? [] : [{ type: "error", text: agreement }];
  const known = openRoot ? [openRoot] : [];
  const isKnown = glance !== undefined && glance.state !== "unknown" && !isStale;
  if (isKnown && glance.errors === 0 && glance.warnings === known.length) {
    return { ...seen, issues: [...missing, ...known] };
  }
  const { imageType } = appliance;
  const examined = await examine({ env, db }, appliance, { imageType, abilities: await listAbilities(db), rows });
  const { resolution, software } = examined;
  return {
    ...seen,
    examined,
    appliance: resolution ? await noteEstimate(db, appliance, { software, resolution }) : appliance,
    packages: resolution?.state === "solved" ? resolution.packages.length : packages,
    issues: [...missing, ...examined.issues],
  };
}
