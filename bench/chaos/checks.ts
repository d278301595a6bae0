import { createHash } from "node:crypto";
import type { World } from "./world.ts";
import type { Build, Work } from "./work.ts";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** A fault that was injected, and its time. */
export interface Happened {
  name: string;
  mayCostAttempt: boolean;
  from: number;
  to: number;
}

export interface Run {
  world: World;
  work: Work;
  happened: readonly Happened[];
}

/** A condition that must hold after all faults. `violations` returns the exceptions. */
export interface Check {
  name: string;
  violations: (run: Run) => Promise<string[]> | string[];
}

/** The number of attempts of a build, which may be retried twice. */
const attempts = 3;

const isExcused = ({ startedAt, end }: Build, happened: readonly Happened[]): boolean =>
  happened.filter(({ mayCostAttempt, from, to }) => mayCostAttempt && to >= startedAt && from <= (end?.at ?? Infinity))
    .length >= attempts && end?.state === "error";

const timesIn = (world: World, words: string): number =>
  world.all.reduce((sum, { agent }) => sum + agent.said.split(words).length - 1, 0);

const words = ({ id, imageType, end }: Build) => `build ${id} (${imageType}) ${end?.state ?? "runs"}: ${end?.message}`;

/** Checks that query the running service. */
export const checksBefore: Check[] = [
  {
    name: "every build is accepted",
    violations: ({ work }) => (work.builds.length === work.asked ? [] : [`${work.builds.length} of ${work.asked}`]),
  },
  {
    name: "every build ends",
    violations: ({ work }) => work.builds.filter(({ end }) => !end).map(words),
  },
  {
    name: "every build has an image, unless three faults could cost it an attempt",
    violations: ({ work, happened }) =>
      work.ended.filter((build) => build.end?.state !== "finished" && !isExcused(build, happened)).map(words),
  },
  {
    name: "no build runs to its end twice",
    violations: ({ world, work }) =>
      work.builds.filter(({ id }) => timesIn(world, `build finished buildId=${id} `) > 1).map(words),
  },
  {
    name: "no build is there that was not asked for",
    violations: async ({ work }) => {
      const lists = work.clients.map(async (client) => {
        const own = work.builds.filter((build) => build.client === client);
        const appliances = new Set(own.map(({ applianceId }) => applianceId));
        const found: string[] = [];
        for (const appliance_id of appliances) {
          const { builds } = await client.call("GET", "/builds", { appliance_id });
          found.push(...[builds.build ?? []].flat().map(({ id }: { id: string }) => id));
        }
        return found.filter((id) => !own.some((build) => build.id === id)).map((id) => `build ${id}`);
      });
      return (await Promise.all(lists)).flat();
    },
  },
  {
    name: "every image can be downloaded, and has its checksum",
    violations: async ({ work }) => {
      const wrong: string[] = [];
      for (const build of work.ended.filter(({ end }) => end?.state === "finished")) {
        const problem = await problemOfImage(build).catch(String);
        if (problem !== undefined) wrong.push(`build ${build.id}: ${problem}`);
      }
      return wrong;
    },
  },
  {
    name: "every slot is free",
    violations: async ({ work }) => {
      const lists = work.clients.map(async (client) => {
        const { running_builds: list } = await client.call("GET", "/account/running_builds");
        return [list?.running_build ?? []].flat().map(({ id }: { id: string }) => `build ${id} holds one`);
      });
      return (await Promise.all(lists)).flat();
    },
  },
  {
    name: "every testdrive runs and stops, or says why not",
    violations: ({ work }) =>
      work.testdrives
        .filter(({ result, message }) => /^(never ready|not stopped)$/.test(result) || message === "")
        .map(({ id, result, message }) => `testdrive ${id} ${result}: ${message}`),
  },
];

async function problemOfImage({ client, id }: Build): Promise<string | undefined> {
  const { build } = await client.call("GET", `/builds/${id}`);
  const answer = await fetch(build.download_url);
  if (answer.status !== 200 || !answer.body) return `its download answers ${answer.status}`;
  const digest = createHash("md5");
  for await (const bytes of answer.body) digest.update(bytes);
  const md5 = digest.digest("hex");
  return md5 === build.checksum.md5 ? undefined : `its MD5 is ${md5}, not ${build.checksum.md5}`;
}

/** Checks for leftovers after agents and service have stopped. */
export const checksAfter: Check[] = [
  {
    name: "agents leave no process, mount, loop device or directory",
    violations: async ({ world }) =>
      (
        await Promise.all(
          world.all.map(async ({ name, agent }) => (await agent.leftovers()).map((what) => `${name}: ${what}`)),
        )
      ).flat(),
  },
  {
    name: "no build or testdrive holds a slot in the database",
    violations: ({ world }) => [
      ...rowsOf(world.stateDir, "builds", "SELECT id FROM builds WHERE status IN ('queued', 'running')").map(
        ({ id }) => `build ${String(id)}`,
      ),
      ...rowsOf(world.stateDir, "testdrives", "SELECT id FROM testdrives WHERE state <> 'ended'").map(
        ({ id }) => `testdrive ${String(id)}`,
      ),
    ],
  },
  {
    name: "no upload is left begun",
    violations: ({ world }) =>
      rowsOf(world.stateDir, "_mf_multipart_uploads", "SELECT key FROM _mf_multipart_uploads WHERE state = 0").map(
        ({ key }) => String(key),
      ),
  },
  {
    name: "every end is announced once",
    violations: ({ world, work }) => {
      const documents = rowsOf(world.stateDir, "announced", "SELECT document FROM events WHERE event LIKE 'build.%'")
        .map(({ document: text }) => JSON.parse(String(text)) as { build: { id: string | number; state: string } })
        .map(({ build }) => `${build.id} ${build.state}`);
      return work.ended
        .map(({ id, end }) => ({ id, times: documents.filter((each) => each === `${id} ${end?.state}`).length }))
        .filter(({ times }) => times !== 1)
        .map(({ id, times }) => `build ${id}: ${times} times`);
    },
  },
];

/** The databases in a stopped service's state directory that have this table, each with the rows of a query. */
function rowsOf(stateDir: string, table: string, query: string): Record<string, unknown>[] {
  let tables = 0;
  const rows = databasesIn(stateDir).flatMap((file) => {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const named = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?").get(table);
      tables += named ? 1 : 0;
      return named ? database.prepare(query).all() : [];
    } finally {
      database.close();
    }
  });
  if (tables === 0) throw new Error(`no database has the table ${table}: has miniflare changed?`);
  return rows;
}

const databasesIn = (stateDir: string): string[] =>
  readdirSync(join(stateDir, "worker"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".sqlite"))
    .map((name) => join(stateDir, "worker", name));
