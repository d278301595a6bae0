import { mostAffected } from "#domain/advisories/affected";
import { readExamined, type ExaminedRows } from "#domain/appliances/examined-rows";
import { lastStatusOf, noteStatuses } from "#domain/appliances/last-status";
import { examineOnly } from "#domain/appliances/status";
import { watchUnfinished, type WatchedBuild } from "#domain/builds/build";
import type { Capabilities } from "#lib/contract/index";
import type { Services } from "#domain/services";
import type { AffectedCounts } from "#model/advisory";
import { listAbilities } from "#storage/agents";
import {
  listOverview,
  listUnexamined,
  type OverviewAppliance,
  type OverviewBuild,
  type OverviewChoice,
  type OverviewImage,
  type OverviewRow,
  type ReadOverview,
} from "#storage/appliance-overview";
import { type LastStatus } from "#storage/last-statuses";
import { readLook } from "#storage/appliance-look";
import { listAnyAppliances, type Appliance } from "#storage/appliances";

/**
 * What is happening to an appliance now or, if nothing is, whether it can be built. `unknown`: it has not been examined
 * since its last edit, or never.
 */
type GlanceState = "building" | "waiting" | "ok" | "warning" | "error" | "unknown";

/** An appliance as a list shows it. */
export interface Glance {
  appliance: OverviewAppliance;
  state: GlanceState;
  errors: number;
  warnings: number;
  /** A sentence about the work in progress, or else about the first problem. Empty if there is neither. */
  text: string;
  /**
   * How many packages the appliance's image would have. Null if that is unknown, or if the software does not resolve.
   */
  packages: number | null;
  /** Unfinished builds, oldest first. `state` is the state of the first one. */
  running: WatchedBuild[];
  /** The last build that has ended, with or without an image. */
  lastBuild: OverviewBuild | undefined;
  /** The downloadable images of the version that finished last. */
  images: OverviewImage[];
  /** How outdated the most outdated of these images was at Kiln's last check. Undefined if there was none yet. */
  outdated: Outdated | undefined;
  /** The advisories that affect the worst of these images. Undefined if they are unknown. */
  advisories: AffectedCounts | undefined;
}

type Outdated = NonNullable<OverviewImage["outdated"]>;

export interface Overview {
  /** The number of appliances on all pages. */
  total: number;
  pages: number;
  page: number;
  glances: Glance[];
  /** Appliances of this page whose status may be outdated (`examineAgain`). Those without any status come first. */
  stale: number[];
}

interface OverviewRequest extends OverviewChoice {
  page: number;
  perPage: number;
}

const maxPerPage = 100;
const statusIsGoodForMs = 60 * 60_000;

/**
 * A page of an account's appliances. The number of statements does not depend on the number of appliances. Each
 * unfinished build costs one call, but an account has only a few.
 */
export async function overviewOf(
  { env, db }: Services,
  { page, perPage: wanted, ...which }: OverviewRequest,
): Promise<Overview> {
  const perPage = Math.min(wanted, maxPerPage);
  const asked = { ...which, limit: perPage, offset: (page - 1) * perPage, staleBefore: staleBefore() };
  const read = await listOverview(db, asked);
  return {
    ...(await overviewIn({ env, db }, read, which.only)),
    total: read.total,
    pages: Math.max(1, Math.ceil(read.total / perPage)),
    page,
  };
}

const staleBefore = (): Date => new Date(Date.now() - statusIsGoodForMs);

/** One appliance as the list shows it, and its rows, read in one round trip. */
export async function glanceAt(
  { env, db }: Services,
  appliance: Appliance,
  accountId: number,
): Promise<{ rows: ExaminedRows; glance: Glance | undefined; isStale: boolean }> {
  const readAt = new Date();
  const only = appliance.id;
  const asked = { accountId, only, search: "", limit: 1, offset: 0, staleBefore: staleBefore() };
  const { software, overview } = await readLook(db, appliance, asked);
  const { glances, stale } = await overviewIn({ env, db }, overview, only);
  return { rows: { ...software, readAt }, glance: glances[0], isStale: stale.length > 0 };
}

async function overviewIn(
  services: Services,
  { rows, last, images, unfinished }: ReadOverview,
  only: number | null,
): Promise<Pick<Overview, "glances" | "stale">> {
  const running = await watchUnfinished(services, unfinished, only);
  const ofAppliance = {
    running: Map.groupBy(running, ({ applianceId }) => applianceId),
    last: new Map(last.map((build) => [build.applianceId, build])),
    images: Map.groupBy(images, ({ applianceId }) => applianceId),
  };
  const glances = rows.map((row) => {
    const images = ofAppliance.images.get(row.appliance.id) ?? [];
    return glanceOf(row, {
      running: ofAppliance.running.get(row.appliance.id) ?? [],
      lastBuild: ofAppliance.last.get(row.appliance.id),
      images,
      outdated: worstOf(images),
      advisories: mostAffected(images.map(({ advisories }) => advisories)),
    });
  });
  const stale = rows
    .filter((row) => row.isStale)
    .toSorted((one, other) => Number(isKnown(one)) - Number(isKnown(other)));
  return { glances, stale: stale.map(({ appliance }) => appliance.id) };
}

const worstOf = (images: readonly OverviewImage[]): Outdated | undefined =>
  images
    .flatMap(({ outdated }) => outdated ?? [])
    .toSorted((one, other) => other.security - one.security || other.newer - one.newer)[0];

function glanceOf(
  row: OverviewRow,
  builds: Pick<Glance, "running" | "lastBuild" | "images" | "outdated" | "advisories">,
): Glance {
  const { appliance } = row;
  const status = statusIn(row);
  const [build] = builds.running;
  if (!build) return { appliance, ...status, ...builds };
  const doing = build.state === "queued" ? "waiting" : "building";
  return { appliance, ...status, state: doing, text: build.message, ...builds };
}

function statusIn({
  appliance,
  status,
}: OverviewRow): Pick<Glance, "errors" | "warnings" | "text" | "packages" | "state"> {
  const packages = status?.packages ?? null;
  if (!status || !isKnown({ appliance, status }))
    return { errors: 0, warnings: 0, text: "", packages, state: "unknown" };
  const { errors, warnings, text } = status;
  return { errors, warnings, text, packages, state: errors > 0 ? "error" : warnings > 0 ? "warning" : "ok" };
}

const isKnown = ({ appliance, status }: Pick<OverviewRow, "appliance" | "status">): boolean =>
  status?.editedAt.getTime() === appliance.lastEditedAt.getTime();

/**
 * How long one view keeps examining. The next view continues. On Cloudflare, work after an answer is stopped after 30
 * s.
 */
const examinedForMs = 20_000;
/** How many more appliances without any status are examined after those on the page. */
const mostMore = 50;
/** Accounts whose appliances are being examined, so that a page that refreshes itself does not start another run. */
const examining = new Set<number>();

/** How many appliances are read together, and have their statuses stored together. All of them are in memory. */
const examinedAtOnce = 10;

/**
 * Examines appliances one by one: those on a page, and then others of the account that were never examined. Later views
 * then show their state and can filter by it. Call it after the answer.
 */
export async function examineAgain(services: Services, accountId: number, stale: readonly number[]): Promise<void> {
  if (examining.has(accountId)) return;
  examining.add(accountId);
  try {
    await examineInTurn(services, { accountId, stale });
  } finally {
    examining.delete(accountId);
  }
}

async function examineInTurn(
  { env, db }: Services,
  { accountId, stale }: { accountId: number; stale: readonly number[] },
): Promise<void> {
  const until = Date.now() + examinedForMs;
  const ids = [...new Set([...stale, ...(await listUnexamined(db, accountId, mostMore))])];
  if (ids.length === 0) return;
  const abilities = await listAbilities(db);
  for (let at = 0; at < ids.length && Date.now() <= until; at += examinedAtOnce) {
    await examineThese({ env, db }, ids.slice(at, at + examinedAtOnce), { abilities, until });
  }
}

/** Examines these appliances and stores their statuses, even if the time ends before all of them are examined. */
async function examineThese(
  { env, db }: Services,
  ids: readonly number[],
  { abilities, until }: { abilities: readonly Capabilities[]; until: number },
): Promise<void> {
  const found = new Map((await listAnyAppliances(db, ids)).map((appliance) => [appliance.id, appliance]));
  const inOrder = ids.flatMap((id) => found.get(id) ?? []);
  const statuses: LastStatus[] = [];
  try {
    for (const { appliance, rows } of await readExamined(db, inOrder)) {
      if (Date.now() > until) return;
      const asked = { imageType: appliance.imageType, abilities, rows };
      statuses.push(lastStatusOf(appliance, await examineOnly({ env, db }, appliance, asked), rows));
    }
  } finally {
    await noteStatuses(db, statuses);
  }
}
