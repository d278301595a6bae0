import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { app } from "../../src/app.ts";
import { importRepository } from "#domain/repositories/import";
import { openDatabase } from "#storage/db";
import { addRepository, findRepository } from "#storage/repositories";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { publishedAppliance } from "../support/gallery.ts";
import { mirrorOf, rpmMd } from "../support/mirror.ts";
import { expectError, readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

const db = openDatabase(env);
let tux: Client;
beforeEach(async () => {
  tux = await signedIn();
  vi.spyOn(globalThis, "fetch").mockImplementation(async (to) => {
    const url = new URL(String(to));
    const base = `${url.origin}/${url.pathname.split("/")[1]}`;
    return await mirrorOf({ [base]: rpmMd(["perl-DBI-1.6", "perl-Moose-2.2"]) }).fetchOutside(url.href);
  });
});
afterEach(() => void vi.restoreAllMocks());

/** A call to a service with other limits. */
const ask = (method: string, path: string, { body, ...limits }: Partial<Env> & { body?: string } = {}) => {
  const headers = { authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}` };
  const init = { method, headers, ...(body === undefined ? {} : { body }) };
  return app.fetch(new Request(`https://kiln.test/api/v2/user${path}`, init), { ...env, ...limits });
};
const limits = async () => (await readXml(await tux.get("/account/limits"))).limits;
const mirror = (name: string) => `/repositories?url=http://mirror.example.org/${name}-${tux.accountId}&name=Perl`;

const described = (length: number) => `<configuration><description>${"x".repeat(length)}</description></configuration>`;

describe("the limits of an account", () => {
  it("are shown with their current use", async () => {
    await createAppliance(tux);
    await tux.post(mirror("perl"));
    const shown = await limits();
    expect(shown).toMatchObject({
      repositories: { used: "1", most: "50" },
      packages: { used: "2", most: "300000" },
      appliances: { used: "1", most: "500" },
      comments: { used: "0", most: "2000" },
      webhooks: { used: "0", most: "6" },
    });
    for (const name of ["repository_bytes", "configuration_bytes"]) {
      expect(Number(shown[name].used)).toBeGreaterThan(100);
      expect(Number(shown[name].most)).toBeGreaterThan(2 ** 20);
    }
  });

  it("refuse one repository too many, and keep the existing ones", async () => {
    const one = { MAX_REPOSITORIES_PER_ACCOUNT: "1" };
    expect((await ask("POST", mirror("one"), one)).status).toBe(200);
    const message = await expectError(await ask("POST", mirror("two"), one), 400, "unknown_error");
    expect(message).toMatch(/at most 1 repositories/);
    await expectError(await ask("POST", mirror("one"), one), 400, "repository_already_exists");
    expect((await limits()).repositories.used).toBe("1");
  });

  it("do not count a failed repository if there is room", async () => {
    const url = `http://mirror.example.org/failed-${tux.accountId}`;
    const row = {
      accountId: tux.accountId,
      name: "Failed",
      url,
      type: "rpm-md" as const,
      baseSystem: "other",
      arches: [],
    };
    const failed = (await addRepository(db, { ...row, importState: "failed" }))?.id ?? 0;
    expect((await ask("POST", mirror("one"), { MAX_REPOSITORIES_PER_ACCOUNT: "1" })).status).toBe(200);
    expect(await findRepository(db, failed)).toBeUndefined();
  });

  it("refuse one appliance too many, even among simultaneous requests", async () => {
    const two = { MAX_APPLIANCES_PER_ACCOUNT: "2" };
    const clones = await Promise.all([1, 2, 3, 4].map(() => ask("POST", "/appliances?clone_from=1", two)));
    expect(clones.map(({ status }) => status).toSorted()).toEqual([200, 200, 400, 400]);
    expect((await limits()).appliances.used).toBe("2");
    const refused = await expectError(await ask("POST", "/appliances?clone_from=1", two), 400, "unknown_error");
    expect(refused).toMatch(/at most 2 appliances/);
  });

  it("count a clone of a published appliance", async () => {
    const { applianceId } = await publishedAppliance(await signedIn());
    const none = { MAX_APPLIANCES_PER_ACCOUNT: "0" };
    const answer = await ask("POST", `/appliances?clone_from=${applianceId}`, none);
    expect(await expectError(answer, 400, "unknown_error")).toMatch(/at most 0 appliances/);
  });

  it("refuse configurations that are too large in total, and accept smaller ones", async () => {
    const id = await createAppliance(tux);
    const path = `/appliances/${id}/configuration`;
    expect((await ask("PUT", path, { body: described(9000) })).status).toBe(200);
    const none = { MAX_CONFIGURATION_MB_PER_ACCOUNT: "0" };
    const refused = await ask("PUT", path, { body: described(9001), ...none });
    expect(await expectError(refused, 400, "unknown_error")).toMatch(/at most 0 MB/);
    expect((await ask("PUT", path, { body: described(8999), ...none })).status).toBe(200);
  });

  it("refuse one comment too many", async () => {
    const { applianceId } = await publishedAppliance(await signedIn());
    const one = { MAX_COMMENTS_PER_ACCOUNT: "1", body: "Nice." };
    const path = `/gallery/appliances/${applianceId}/comments`;
    expect((await ask("POST", path, one)).status).toBe(200);
    expect(await expectError(await ask("POST", path, one), 400, "unknown_error")).toMatch(/at most 1 comments/);
  });

  it("never allow more webhooks than one object can serve", async () => {
    const { most } = (await readXml(await ask("GET", "/account/limits", { MAX_WEBHOOKS_PER_ACCOUNT: "99" }))).limits
      .webhooks;
    expect(most).toBe("6");
  });

  it.each([
    [{ MAX_PACKAGES_PER_ACCOUNT: "3" }, "it has more than 1 packages, which is what your account has left"],
    [{ MAX_REPOSITORY_MB_PER_ACCOUNT: "0" }, "it has more than 0 MB of names and descriptions, which is what"],
  ])("stop an import that exceeds them: %j", async (lower, problem) => {
    await tux.post(mirror("first"));
    const url = `http://mirror.example.org/second-${tux.accountId}`;
    const row = {
      accountId: tux.accountId,
      name: "Two",
      url,
      type: "rpm-md" as const,
      baseSystem: "other",
      arches: [],
    };
    const id = (await addRepository(db, row))?.id ?? 0;
    await importRepository({ env: { ...env, ...lower }, db }, id);
    expect((await findRepository(db, id))?.problem).toContain(problem);
    expect((await limits()).packages.used).toBe("2");
  });
});
