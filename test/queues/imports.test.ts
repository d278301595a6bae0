import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import worker from "../../src/index.ts";
import { openDatabase } from "#storage/db";
import { queueImports } from "#storage/import-turns";
import { addRepository, findRepository } from "#storage/repositories";
import { signedIn } from "../support/client.ts";
import { mirrorOf, rpmMd } from "../support/mirror.ts";
import { storedOf } from "../support/test-repository.ts";

const db = openDatabase(env);
let url: string;
let repositoryId: number;
beforeEach(async () => {
  const { accountId } = await signedIn();
  url = `http://mirror.example.org/${accountId}`;
  const row = { accountId, name: "Linux", url, type: "rpm-md" as const, baseSystem: "other", arches: [] };
  repositoryId = (await addRepository(db, row))?.id ?? 0;
  await queueImports(db, [repositoryId], new Date());
  vi.spyOn(globalThis, "fetch").mockImplementation((to) =>
    mirrorOf({ [url]: rpmMd(["a-one-1"]) }).fetchOutside(String(to)),
  );
  vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => void vi.restoreAllMocks());

/** Consumes a message in an environment that may be partly broken. */
async function take(body: unknown, { queue = "kiln-imports", ...broken }: Partial<Env> & { queue?: string } = {}) {
  const batch = createMessageBatch(queue, [{ id: "a", timestamp: new Date(), attempts: 1, body }]);
  await worker.queue(batch, { ...env, ...broken });
  const { retryMessages } = await getQueueResult(batch, createExecutionContext());
  return { isRetried: retryMessages.length > 0, repository: await findRepository(db, repositoryId) };
}

/** An R2 that can be read, but not written. */
const brokenBlobs = new Proxy(env.BLOBS, {
  get: (blobs, name) => {
    if (name === "put") return () => Promise.reject(new Error("R2 is away"));
    const value: unknown = Reflect.get(blobs, name);
    return typeof value === "function" ? value.bind(blobs) : value;
  },
});

it("imports the requested repository", async () => {
  const { isRetried, repository } = await take({ repositoryId });
  expect([isRetried, repository?.importState, repository?.packageCount]).toEqual([false, "ready", 1]);
});

it("does not retry if the repository is at fault", async () => {
  vi.mocked(fetch).mockResolvedValue(new Response("", { status: 404 }));
  const { isRetried, repository } = await take({ repositoryId });
  expect([isRetried, repository?.importState]).toEqual([false, "failed"]);
});

it("retries if the service is at fault", async () => {
  const { isRetried, repository } = await take({ repositoryId }, { BLOBS: brokenBlobs });
  expect([isRetried, repository?.importState]).toEqual([true, "importing"]);
});

it("fails after the last try, and reports it", async () => {
  await take({ repositoryId }, { BLOBS: brokenBlobs });
  const { isRetried, repository } = await take({ repositoryId }, { queue: "kiln-dead-imports" });
  expect([isRetried, repository?.importState]).toEqual([false, "failed"]);
  expect(repository?.problem).toMatch(/^Its import was given up after 4 attempts\. Each failed/);
});

it("leaves nothing behind of an import that the service could not finish", async () => {
  await take({ repositoryId }, { BLOBS: brokenBlobs });
  expect(await storedOf(url)).toEqual({ imports: 0, packages: 0 });
});

it.each([[{ repositoryId: 999_999 }], [{ repositoryId: "x" }], ["cake"], [null]])(
  "drops the message %j",
  async (body) => {
    expect((await take(body)).isRetried).toBe(false);
  },
);
