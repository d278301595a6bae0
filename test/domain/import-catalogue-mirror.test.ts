import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { importRepository } from "#domain/repositories/import";
import { openDatabase } from "#storage/db";
import { addRepository, findRepository } from "#storage/repositories";
import { signedIn } from "../support/client.ts";
import { mirrorOf, rpmMd } from "../support/mirror.ts";

const db = openDatabase(env);
const url = "http://10.1.2.3:3142/linux";

/** Imports it with the launcher's two networks. Only the network for listed hosts reaches the mirror. */
async function imported(owner: { accountId: number } | { catalogue: string }) {
  const row = {
    name: "Near",
    url,
    type: "rpm-md" as const,
    baseSystem: "other",
    arches: [],
    accountId: null,
    ...owner,
  };
  const id = (await addRepository(db, row))?.id ?? expect.fail("it is not stored");
  const { fetchOutside, asked } = mirrorOf({ [url]: rpmMd(["a-one-1"]) });
  const fetch = (to: RequestInfo | URL) => fetchOutside(String(to));
  const listed = { fetch } as Fetcher;
  const none = { fetch: () => Promise.reject(new Error("not reachable")) } as unknown as Fetcher;
  await importRepository(
    { env: { ...env, OUTSIDE: none, OUTSIDE_LISTED: listed, CATALOGUE_HOSTS: "10.1.2.3:3142" } as Env, db },
    id,
  );
  return { row: await findRepository(db, id), asked };
}

it("reaches the operator's private mirror for a repository of a catalogue", async () => {
  const { row } = await imported({ catalogue: "near" });

  expect(row).toMatchObject({ problem: null, packageCount: 1 });
});

it("does not reach the operator's private mirror for a person's repository", async () => {
  const { accountId } = await signedIn();
  const { row, asked } = await imported({ accountId });

  expect(row).toMatchObject({ importState: "failed", problem: expect.stringContaining("must not connect to") });
  expect(asked).toEqual([]);
});

it("asks the proxy for a catalogue's mirror, and for no address of a person", async () => {
  const { accountId } = await signedIn();
  const mirror = mirrorOf({ [url]: rpmMd(["a-one-1"]) });
  const ask = (to: string, init: RequestInit) => {
    expect(new Headers(init.headers).get("host")).toBe("10.1.2.3:3142");
    return mirror.fetchOutside(to);
  };
  const proxy = { fetch: ask } as unknown as Fetcher;
  const none = { fetch: () => Promise.reject(new Error("not reachable")) } as unknown as Fetcher;
  const proxied = { CATALOGUE_HOSTS: "10.1.2.3:3142", PROXIED_HOSTS: "10.1.2.3:3142", CATALOGUE_PROXY: proxy };
  const outside = { OUTSIDE: none, OUTSIDE_LISTED: none, ALLOW_HOSTS: "10.1.2.3:3142" };
  for (const [owner, problem] of [
    [{ accountId: null, catalogue: "proxied" }, null],
    [{ accountId }, expect.stringContaining("cannot be reached")],
  ] as const) {
    const row = { name: "Near", url, type: "rpm-md" as const, baseSystem: "other", arches: [], ...owner };
    const id = (await addRepository(db, row))?.id ?? expect.fail("it is not stored");
    const before = mirror.asked.length;
    await importRepository({ env: { ...env, ...outside, ...proxied } as Env, db }, id);
    expect(await findRepository(db, id)).toMatchObject({ problem });
    expect(mirror.asked.length > before).toBe(problem === null);
  }
});
