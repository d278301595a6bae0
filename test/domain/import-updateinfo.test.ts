import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { importRepository } from "#domain/repositories/import";
import { openDatabase } from "#storage/db";
import { addRepository, findRepository } from "#storage/repositories";
import { signedIn } from "../support/client.ts";
import { solverOf } from "../support/imported.ts";
import { mirrorOf, rpmMd } from "../support/mirror.ts";

const db = openDatabase(env);
const url = "http://mirror.example.org/updates";
const packages = ["a-tool-1 requires a-lib", "a-lib-1", "a-lib-2"];

const update = (id: string) => `<update status="stable" type="security" version="1"><id>${id}</id>
  <title>a-lib is not safe</title><pkglist><collection><package name="a-lib" epoch="0" version="2" release="1"
  arch="x86_64"/></collection></pkglist></update>`;

const updates = (...ids: string[]) => `<?xml version="1.0"?><updates>${ids.map(update).join("")}</updates>`;

async function imported(updateinfo?: string) {
  const { accountId } = await signedIn();
  const row = { accountId, name: "Updates", url, baseSystem: "other", type: "rpm-md" as const, arches: [] };
  const id = (await addRepository(db, row))?.id ?? 0;
  await importRepository({ env, db }, id, mirrorOf({ [url]: rpmMd(packages, updateinfo ? { updateinfo } : {}) }));
  return (await findRepository(db, id)) ?? expect.fail("the repository is gone");
}

it("reads advisories into a separate part, which resolutions ignore", async () => {
  const plain = await imported();
  const withAdvisories = await imported(updates("TINY-1", "TINY-2"));

  expect(withAdvisories).toMatchObject({ importState: "ready", problem: null, packageCount: 3 });
  expect(withAdvisories.parts).toHaveLength(plain.parts.length + 1);
  const [before, after] = [await solverOf(plain), await solverOf(withAdvisories)];
  expect([before, after].map((solver) => solver.info("patch:TINY-2")?.name)).toEqual([undefined, "patch:TINY-2"]);
  expect(after.info("patch:TINY-2")?.dependencies.conflicts).toContain("a-lib.x86_64 < 2-1");
  const packagesOf = (solver: typeof before) => {
    const resolution = solver.solve([{ kind: "install", name: "a-tool" }]);
    return resolution.state === "solved" && [...resolution.packages, ...resolution.kinds].map(({ name }) => name);
  };
  expect(packagesOf(before)).toEqual(["a-lib", "a-tool"]);
  expect(packagesOf(after)).toEqual(packagesOf(before));
});

it("reads many advisories in chunks, and stores one part", async () => {
  const ids = Array.from({ length: 18_000 }, (_, nth) => `TINY-${nth}`);
  const repository = await imported(updates(...ids));
  expect(repository.parts).toHaveLength(2);
  const solver = await solverOf(repository);
  expect([ids[0], ids.at(-1)].map((id) => solver.info(`patch:${id}`)?.name)).toEqual([
    "patch:TINY-0",
    "patch:TINY-17999",
  ]);
});

it.each([
  ["is cut off", updates("TINY-1").slice(0, -10), /ends before/],
  ["is not updateinfo", "<html><body>Hello</body></html>", /does not begin with/],
  ["is not well-formed", updates("TINY-1").replace("</title>", "</b>"), /./],
  ["declares entities", `<!DOCTYPE u [<!ENTITY e "ha">]>${updates("TINY-1")}`, /./],
])("refuses the whole repository when updateinfo.xml %s", async (_, updateinfo, problem) => {
  const { id, ...repository } = await imported(updateinfo);
  expect(repository).toMatchObject({ importState: "failed", parts: [], problem: expect.stringMatching(problem) });
  expect((await env.BLOBS.list({ prefix: `solv/${id}/` })).objects).toEqual([]);
});
