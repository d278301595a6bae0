import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, vi } from "vitest";
import { openDatabase } from "#storage/db";
import { listRpms } from "#storage/rpms";
import { builds, publications, repositories } from "#storage/schema";
import { eq } from "drizzle-orm";
import { signedIn, type Client } from "../support/client.ts";
import { stopClock } from "../support/clock.ts";
import { insist, survivesEveryFailure, type Run } from "../support/every-failure.ts";
import { objectOf } from "../support/events.ts";
import { createBuild } from "../support/factories.ts";
import { galleryPath } from "../support/gallery.ts";
import { rpmOf } from "../support/packages.ts";
import { base, listed } from "../support/rpm-uploads.ts";
import { sweepIn } from "../support/sweep.ts";
import { until } from "../support/testdrives.ts";
import type { Sent } from "./every-call/row.ts";
import { sent } from "./every-call/send.ts";
import { readXml } from "../support/xml.ts";

// Makes each storage call of a request with an Idempotency-Key fail once. The client repeats the request until it
// succeeds.

const db = openDatabase(env);

const pass = (ms: number) => void vi.setSystemTime(Date.now() + ms);

/** A POST, and how its result is checked. */
class PostRun implements Run {
  readonly step = "post";
  readonly #tux: Client;
  readonly #path: string;
  readonly #body: () => Sent;
  readonly #key = crypto.randomUUID();
  readonly expectWhole: Run["expectWhole"];

  constructor(tux: Client, post: { path: string; body: () => Sent; expectWhole: Run["expectWhole"] }) {
    this.#tux = tux;
    this.#path = post.path;
    this.#body = post.body;
    this.expectWhole = post.expectWhole;
  }

  async toTheEnd(): Promise<void> {
    const request = () =>
      sent({ method: "POST", path: this.#path, body: this.#body(), credentials: this.#tux, key: this.#key });
    const flow = setInterval(() => pass(1_000), 50); // runs the service's timers
    await insist(this.step, request, async () => pass(2_000)).finally(() => clearInterval(flow));
  }
}

describe("a publication", () => {
  survivesEveryFailure({
    steps: ["post"],
    begin: async () => {
      const tux = await signedIn();
      const { applianceId } = await createBuild(tux);
      stopClock();
      return new PostRun(tux, {
        path: galleryPath(applianceId, "/version/0.0.1"),
        body: () => ({ text: "the first one" }),
        expectWhole: async () => {
          const rows = await db.select().from(publications).where(eq(publications.applianceId, applianceId));
          expect(rows.map(({ version, releaseNotes }) => [version, releaseNotes])).toEqual([
            ["0.0.1", "the first one"],
          ]);
          await sweepIn(0);
          expect((await eventsOf(tux)).filter((event) => event === "version.published")).toHaveLength(1);
          expect(await positionsInLog(applianceId)).toEqual([expect.any(Number)]);
        },
      });
    },
  });
});

/** The positions of an appliance's images in the public log, if they have any. */
const positionsInLog = async (applianceId: number) =>
  (await db.select().from(builds).where(eq(builds.applianceId, applianceId))).map(({ logPosition }) => logPosition);

/** The events that were sent to an account. */
const eventsOf = (account: Client): Promise<string[]> =>
  runInDurableObject(objectOf(account), (_, { storage }) =>
    [...storage.sql.exec<{ event: string }>("SELECT event FROM events")].map(({ event }) => event),
  );

const dayMs = 24 * 60 * 60_000;

describe("an uploaded package", () => {
  const owners: Client[] = [];

  survivesEveryFailure({
    steps: ["post"],
    begin: async () => {
      const tux = await signedIn();
      owners.push(tux);
      stopClock();
      return new PostRun(tux, {
        path: `/rpms?base_system=${base}`,
        body: () => ({ file: rpmOf("one"), name: "one.rpm" }),
        expectWhole: async () => {
          expect(await listed(tux)).toEqual(["one-0:1.0-1.noarch"]);
          const { rpms } = await readXml(await tux.get(`/rpms?base_system=${base}`));
          const file = await tux.get(`/rpms/${rpms.rpm.id}`, {});
          expect(await file.text()).toContain("one");
          await until(() => isResolved(tux));
        },
      });
    },
    atTheEnd: async () => {
      for (let n = 0; n < 2; n += 1) await sweepIn(3 * dayMs);
      const rows = (await Promise.all(owners.map((owner) => listRpms(db, owner.accountId, base)))).flat();
      expect(rows).toHaveLength(owners.length);
      expect(await blobIdsIn("uploads/")).toEqual(rows.map(({ blobId }) => blobId).toSorted());
      expect(await blobIdsIn("begun-uploads/")).toEqual([]);
    },
  });
});

/** Whether the import of its user repository shows the package. The sweep retries failed steps. */
async function isResolved({ accountId }: Client): Promise<true | undefined> {
  const own = await db.select().from(repositories).where(eq(repositories.accountId, accountId));
  if (own.length === 1 && own[0]?.importState === "ready" && own[0].packageCount === 1) return true;
  await sweepIn(0);
  return undefined;
}

/** The second part of each key. */
async function blobIdsIn(prefix: string): Promise<string[]> {
  const { objects } = await env.BLOBS.list({ prefix });
  return [...new Set(objects.map(({ key }) => key.split("/")[1] ?? ""))].toSorted();
}
