import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import tiny from "../../templates/tiny.json";
import { importRepository } from "#domain/repositories/import";
import { openDatabase } from "#storage/db";
import { beginImport, noteProgress } from "#storage/import-states";
import { listByCatalogue } from "#storage/repositories";
import { loadTemplates } from "../support/catalogue.ts";
import { type Client, operate, signedIn } from "../support/client.ts";
import { mirrorOf, rpmMd } from "../support/mirror.ts";
import { newRepository } from "../support/test-repository.ts";
import { readXml } from "../support/xml.ts";

const db = openDatabase(env);

it("is known while packages are read, and not any more at the end", async () => {
  const repository = await newRepository();
  const seen: unknown[] = [];
  const put: R2Bucket["put"] = async (...given: Parameters<R2Bucket["put"]>) => {
    seen.push((await repository.row()).importProgress);
    return await env.BLOBS.put(...given);
  };
  const blobs = new Proxy(env.BLOBS, {
    get: (target, name) => (name === "put" ? put : Reflect.get(target, name).bind(target)),
  });
  await importRepository(
    { env: { ...env, BLOBS: blobs }, db },
    repository.id,
    mirrorOf({ [repository.url]: rpmMd(["a-one-1", "a-two-1"]) }),
  );
  expect(seen).toContainEqual({ packages: 2, percent: 100 });
  expect(await repository.row()).toMatchObject({ importState: "ready", importProgress: null });
});

it("is not written by an import that began before another", async () => {
  const repository = await newRepository();
  await beginImport(db, repository.id, { checkId: "second", startedAt: new Date() });
  await noteProgress(db, repository.id, { checkId: "first", progress: { packages: 1, percent: 1 } });
  expect((await repository.row()).importProgress).toBeNull();
});

interface ShownSet {
  template: object[];
}

async function templatesInJson(who: Client): Promise<ShownSet["template"]> {
  const answer = await who.get("/template_sets/default", { headers: { accept: "application/json" } });
  return ((await answer.json()) as { template_set: ShownSet }).template_set.template;
}

/** Tiny Linux in the middle of its first import. */
async function importing(packages: number, percent: number): Promise<void> {
  const [first] = await listByCatalogue(db, tiny.name);
  await env.DB.prepare("UPDATE repositories SET revision = NULL WHERE catalogue = ?").bind(tiny.name).run();
  await beginImport(db, first?.id ?? 0, { checkId: "now", startedAt: new Date() });
  await noteProgress(db, first?.id ?? 0, { checkId: "now", progress: { packages, percent } });
}

beforeAll(loadTemplates);

it("is shown in the template's set and status, and to the operator", async () => {
  const tux = await signedIn();
  expect((await templatesInJson(tux))[0]).not.toHaveProperty("importing");
  await importing(24_000, 38);

  const { name } = (await listByCatalogue(db, tiny.name))[0] ?? expect.fail("there is no repository");
  expect((await templatesInJson(tux))[0]).toMatchObject({
    importing: expect.stringContaining(`${name} (24000 packages read, 38 %)`),
    packages_read: 24_000,
    import_percent: 38,
  });
  const { template_set: inXml } = await readXml(await tux.get("/template_sets/default"));
  expect(Object.keys(inXml.template[0])).toEqual(["appliance_id", "name", "description", "basesystem"]);

  const { status } = await readXml(await tux.get("/appliances/1/status"));
  expect(JSON.stringify(status.issues)).toContain(`${name} is still being imported: 24000 packages read, 38 %.`);
  const listed = await (await operate("GET", "/catalogues")).json();
  expect(listed).toMatchObject({
    catalogues: expect.arrayContaining([
      expect.objectContaining({
        repositories: expect.arrayContaining([
          expect.objectContaining({ name, progress: { packages: 24_000, percent: 38 } }),
        ]),
      }),
    ]),
  });
});
