/**
 * Each pair of a generated image and a generated advisory, compared with a simple rule that does not compare versions.
 */
import { env } from "cloudflare:workers";
import { expect, inject, it } from "vitest";
import { imagesWithAdvisory } from "#domain/advisories/images-with";
import { importAdvisories } from "#domain/advisories/import";
import { affectedStates, type AffectedCounts, type AffectedState } from "#model/advisory";
import { openDatabase } from "#storage/db";
import { saveImagePackages, type ListedPackage } from "#storage/image-packages";
import { signedIn } from "../support/client.ts";
import { loadDebian } from "../support/debian.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { copyRow, unique } from "../support/many-rows.ts";
import { takeChores } from "../support/sweep.ts";

declare module "vitest" {
  interface ProvidedContext {
    advisoryPairs: { images: number; advisories: number };
  }
}

const db = openDatabase(env);
const { images: imageCount, advisories: advisoryCount } = inject("advisoryPairs");

/** In the order of `dpkg --compare-versions`. */
const versions = [
  "1.0~rc1-1",
  "1.0-1",
  "1.0-1+deb12u1",
  "1.0-2~bpo1",
  "1.0-2",
  "1.0.1-1",
  "1.10-1",
  "2.0-~1",
  "2.0",
  "2.0-0+deb13u1",
  "1:0.5-1",
  "1:0.5-10",
];
const sourceCount = 40;

/** Mulberry32: the same seed gives the same images. */
function below(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
}
const random = below(inject("propertySeed"));

/** The index of each source's installed version in the list above. */
type Image = Map<string, number>;

const newImage = (): Image =>
  new Map(
    Array.from({ length: sourceCount }, (_, nth): [string, number] => [`source${nth}`, random(versions.length)]).filter(
      () => random(3) === 0,
    ),
  );

interface Generated {
  id: string;
  /** For each source, the index of the version that fixes it, or why no version does. */
  about: Map<string, number | Exclude<AffectedState, "fixed">>;
}

const unfixed = ["open", "undetermined", "unimportant"] as const;

function newAdvisory(nth: number): Generated {
  const sources = Array.from({ length: 1 + random(2) }, () => `source${random(sourceCount)}`);
  const about = sources.map((source): [string, number | (typeof unfixed)[number]] => [
    source,
    random(3) === 0 ? (unfixed[random(3)] ?? "open") : random(versions.length),
  ]);
  return { id: `CVE-2026-${1000 + nth}`, about: new Map(about) };
}

/** The expected state of a pair; undefined if the advisory does not concern the image. */
function expectedOf(image: Image, { about }: Generated): AffectedState | undefined {
  const states = [...about].flatMap(([source, known]): AffectedState[] => {
    const installed = image.get(source);
    if (installed === undefined) return [];
    if (typeof known !== "number") return [known];
    return installed < known ? ["fixed"] : [];
  });
  return affectedStates.find((state) => states.includes(state));
}

const packagesOf = (image: Image): ListedPackage[] =>
  [...image].flatMap(([source, place]) =>
    ["", "-bin"].map((suffix) => {
      const version = versions[place] ?? "";
      return { name: source + suffix, version, arch: "amd64", source, sourceVersion: version };
    }),
  );

function trackerOf(all: readonly Generated[]): string {
  const tracker: Record<string, Record<string, object>> = {};
  for (const { id, about } of all) {
    for (const [source, known] of about) {
      const entry =
        typeof known === "number"
          ? { status: "resolved", fixed_version: versions[known] }
          : known === "unimportant"
            ? { status: "open", urgency: known }
            : { status: known };
      (tracker[source] ??= {})[id] = { releases: { test: entry } };
    }
  }
  return JSON.stringify(tracker);
}

/** Images of an account with these packages, without blobs. Returns their ids. */
async function store(accountId: number, first: number, images: readonly Image[]): Promise<number[]> {
  const changes = { uid: unique("uid"), download_token: unique("download_token"), version: unique("version") };
  await copyRow("builds", { id: first, times: images.length - 1, changes });
  const { results } = await env.DB.prepare("SELECT id FROM builds WHERE account_id = ? ORDER BY id")
    .bind(accountId)
    .all<{ id: number }>();
  const ids = results.map(({ id }) => id);
  for (const [nth, id] of ids.entries()) {
    await saveImagePackages(db, { id, baseSystem: "debian-test" }, packagesOf(images[nth] ?? new Map()));
  }
  return ids;
}

async function countAll(): Promise<void> {
  const waiting = env.DB.prepare(
    "SELECT 1 FROM image_packages WHERE is_counted = 0 UNION SELECT 1 FROM advisory_changes LIMIT 1",
  );
  while (await waiting.first()) await takeChores([{ body: { chore: "countImageAdvisories", at: Date.now() } }]);
}

async function foundBy(accountId: number, id: string): Promise<Map<number, AffectedState | undefined>> {
  const found = new Map<number, AffectedState | undefined>();
  for (let before: number | undefined; ;) {
    const page = await imagesWithAdvisory(db, { accountId, only: null, id, before });
    for (const { id: image, packages } of page) {
      found.set(
        image,
        affectedStates.find((state) => packages.some((one) => one.state === state)),
      );
    }
    before = page.at(-1)?.id;
    if (before === undefined || page.length < 1000) return found;
  }
}

/** Reads the feed, and compares the counts of all images. */
async function readAndCompare(accountId: number, ids: readonly number[], images: readonly Image[], feed: Generated[]) {
  const body = new Blob([trackerOf(feed)]).stream();
  await importAdvisories(db, { feed: "debian", origin: "generated", body }, Date.now());
  await countAll();
  const expectedCounts = ids.map((id, nth): [number, AffectedCounts] => {
    const counts = { fixed: 0, open: 0, undetermined: 0, unimportant: 0, exploited: 0 };
    for (const one of feed) {
      const state = expectedOf(images[nth] ?? new Map(), one);
      if (state) counts[state] += 1;
    }
    return [id, counts];
  });
  const { results } = await env.DB.prepare("SELECT build_id AS id, advisories FROM image_packages WHERE account_id = ?")
    .bind(accountId)
    .all<{ id: number; advisories: string }>();
  const counted = results.map(({ id, advisories: json }): [number, unknown] => [id, JSON.parse(json)]);
  expect(new Map(counted)).toEqual(new Map<number, unknown>(expectedCounts));
}

it(`agrees in each of ${imageCount} × ${advisoryCount} pairs`, { timeout: 3_600_000 }, async () => {
  const tux = await signedIn();
  await createAppliance(tux); // loads the templates
  await loadDebian();
  const first = await startBuild(tux, await createAppliance(tux, { clone_from: 900 }));
  await (await fakeAgent()).buildsSuccessfully(first);
  const images = Array.from({ length: imageCount }, newImage);
  const ids = await store(tux.accountId, first, images);
  const earlier = Array.from({ length: advisoryCount }, (_, nth) => newAdvisory(nth));
  await readAndCompare(tux.accountId, ids, images, earlier);
  // Changes a few of them on another day, and removes the last ones.
  const kept = earlier.slice(0, -Math.ceil(advisoryCount / 50));
  const advisories = kept.map((one, nth) => (random(20) === 0 ? newAdvisory(nth) : one));
  await readAndCompare(tux.accountId, ids, images, advisories);

  for (const one of advisories) {
    const expected = ids.flatMap((id, nth): [number, AffectedState][] => {
      const state = expectedOf(images[nth] ?? new Map(), one);
      return state ? [[id, state]] : [];
    });
    expect(await foundBy(tux.accountId, one.id), one.id).toEqual(new Map(expected));
  }
});
