import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { sweep } from "#queues/sweep";
import { inputKey } from "#storage/blobs";
import { signedIn } from "../support/client.ts";
import { counting } from "../support/counting.ts";
import { messagesOfSweep, sweepIn, takeChores } from "../support/sweep.ts";
import { patienceMs } from "../support/patience.ts";

const hourMs = 60 * 60_000;
/** A fraction of the 10,000 that Cloudflare allows. */
const maxSubrequests = 2_000;
const many = 2_000;

beforeEach(async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  await env.DB.batch([env.DB.prepare("DELETE FROM builds"), env.DB.prepare("DELETE FROM testdrives")]);
});
afterEach(() => void vi.restoreAllMocks());

/** Omits the time at the beginning and the reason at the end. */
const complaints = () =>
  vi.mocked(console.error).mock.calls.map(([line]) => /^\S+ (.*?)(: |$)/s.exec(String(line))?.[1]);

const numbers = `WITH RECURSIVE many(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < ${many})`;

/** Rows of builds whose objects have been silent for an hour. */
const addBuilds = (columns: Record<string, string> = {}) => {
  const row = {
    uid: "'build ' || n",
    account_id: "0",
    appliance_id: "-n",
    version: "'0.0.1'",
    image_type: "'oem'",
    status: "'running'",
    input_sha256: "''",
    download_token: "'build ' || n",
    created_at: "0",
    wake_at: `${Date.now() - hourMs} + n`,
    ...columns,
  };
  return env.DB.prepare(
    `${numbers} INSERT INTO builds (${Object.keys(row).join()}) SELECT ${Object.values(row).join()} FROM many`,
  ).run();
};

const addTestdrives = () =>
  env.DB.prepare(
    `${numbers} INSERT INTO testdrives (uid, account_id, build_id, state, page_token, created_at, wake_at)
     SELECT 'drive ' || n, 0, 0, 'running', 'drive ' || n, 0, n FROM many`,
  ).run();

/** Objects that only record that they were woken. Those with these names fail. */
function fakeObjects(failing: readonly string[] = []) {
  const woken: string[] = [];
  const getByName = (uid: string) => ({
    wake: async () => {
      woken.push(uid);
      if (failing.includes(uid)) throw new Error("this object does not start");
      return false;
    },
    forget: async () => {},
  });
  return { woken, objects: { getByName } as never };
}

const uids = (kind: string) => Array.from({ length: many }, (_, nth) => `${kind} ${nth + 1}`).toSorted();

it("keeps each invocation within its subrequests, and reaches every silent row in a few runs", async () => {
  await Promise.all([addBuilds(), addTestdrives()]);
  const [builds, testdrives] = [fakeObjects(["build 1"]), fakeObjects()];
  const used: [string, number][] = [];

  for (let runs = 0; runs < 4; runs += 1) {
    for (const message of await messagesOfSweep(runs)) {
      const { BLOBS, DB } = env;
      const watched = counting({ BLOBS, DB, BUILDS: builds.objects, TESTDRIVES: testdrives.objects });
      await takeChores([message], watched.env);
      used.push([JSON.stringify(message.body), watched.calls.length]);
    }
  }

  expect(builds.woken.toSorted()).toEqual(uids("build"));
  expect(testdrives.woken.toSorted()).toEqual(uids("drive"));
  expect(used.filter(([, calls]) => calls > maxSubrequests)).toEqual([]);
  expect(Math.max(...used.map(([, calls]) => calls))).toBeGreaterThan(500); // the calls are counted
  expect(complaints()).toHaveLength(1);
});

it("removes replaced builds a page at a time", async () => {
  await addBuilds({ status: "'finished'", retired_at: "n" });
  const { BLOBS, DB } = env;
  const watched = counting({ BLOBS, DB, BUILDS: fakeObjects().objects });
  const [message] = (await messagesOfSweep(0)).filter(({ body }) => JSON.stringify(body).includes("Retired"));

  await takeChores(message ? [message] : [], watched.env);

  expect(watched.calls.length).toBeLessThan(maxSubrequests);
  const left = await env.DB.prepare("SELECT min(retired_at) AS oldest FROM builds").first("oldest");
  expect(left).toBeGreaterThan(1);
});

it("leaves rows alone whose objects showed that they live", async () => {
  await addBuilds({ wake_at: `${Date.now() + hourMs}` });
  const { objects, woken } = fakeObjects();
  await sweepIn(0, { BUILDS: objects });
  expect(woken).toEqual([]);
});

it("does the other chores while one fails and another hangs", async () => {
  await addBuilds();
  await env.BLOBS.put(inputKey("f".repeat(64)), "stray");
  const { objects, woken } = fakeObjects();
  const hanging = Promise.withResolvers<never>();
  const list = (options: R2ListOptions) => {
    if (options.prefix === "builds/") throw new Error("R2 is away");
    return options.prefix === "uploads/" ? hanging.promise : env.BLOBS.list(options);
  };
  const BLOBS = new Proxy(env.BLOBS, {
    get: (blobs, name) => {
      const value: unknown = name === "list" ? list : Reflect.get(blobs, name);
      return typeof value === "function" ? value.bind(blobs) : value;
    },
  });

  const all = takeChores(await messagesOfSweep(2 * hourMs), { BUILDS: objects, BLOBS });
  await vi.waitFor(async () => {
    expect(woken).toHaveLength(500);
    expect(await env.BLOBS.head(inputKey("f".repeat(64)))).toBeNull();
  }, patienceMs);

  hanging.reject(new Error("the connection was closed"));
  await all;
  expect(complaints().toSorted()).toEqual([
    expect.stringMatching(/^a chore failed requestId=sweep-\d+ chore=removeStrayBuildBlobs$/),
    expect.stringMatching(/^a chore failed requestId=sweep-\d+ chore=removeStrayUploads$/),
  ]);
});

it("can run twice at once: each row is woken once", async () => {
  await addBuilds();
  const { objects, woken } = fakeObjects();
  await Promise.all([sweepIn(0, { BUILDS: objects }), sweepIn(0, { BUILDS: objects })]);
  expect(woken).toHaveLength(1000);
  expect(new Set(woken).size).toBe(1000);
});

it("does a chore once that two messages of a batch ask for", async () => {
  await addBuilds();
  const { objects, woken } = fakeObjects();
  await takeChores([...(await messagesOfSweep(0)), ...(await messagesOfSweep(1))], { BUILDS: objects });
  expect(woken).toHaveLength(500);
});

it("goes through the queue", async () => {
  await addTestdrives();
  await sweep({ scheduledTime: Date.now() }, env);
  const ended = env.DB.prepare("SELECT count(*) AS ended FROM testdrives WHERE state = 'ended'");
  await vi.waitFor(async () => expect(await ended.first("ended")).toBe(500), { timeout: patienceMs, interval: 100 });
});

it("ignores messages that ask for nothing that it knows", async () => {
  await takeChores([{ body: { chore: "constructor", at: 1 } }, { body: "sweep" }]);
  expect(complaints()).toEqual([
    "a message is not a valid chore message=0",
    "a message is not a valid chore message=1",
  ]);
});

it("removes an account although the removal of many others always fails", async () => {
  const accounts = [];
  for (let nth = 0; nth < 7; nth += 1) accounts.push((await signedIn()).accountId);
  await env.DB.prepare(`UPDATE accounts SET removed_at = id WHERE id IN (${accounts.join()})`).run();
  const last = accounts.at(-1) ?? 0;
  await env.DB.prepare(
    `CREATE TRIGGER stays BEFORE DELETE ON accounts WHEN old.id <> ${last} BEGIN SELECT RAISE(ABORT, 'it stays'); END`,
  ).run();

  for (let run = 0; run < 2; run += 1) await sweepIn(run);

  await env.DB.prepare("DROP TRIGGER stays").run();
  const left = await env.DB.prepare(`SELECT id FROM accounts WHERE id IN (${accounts.join()})`).all();
  expect(left.results.map(({ id }) => id)).toEqual(accounts.slice(0, -1));
});
