import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import { importRepository } from "#domain/repositories/import";
import { solverPool } from "#lib/solver/shared";
import { openDatabase } from "#storage/db";
import { addRepository, findRepository } from "#storage/repositories";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn } from "../support/client.ts";
import { mirrorOf, rpmMd, type RepositoryFiles } from "../support/mirror.ts";

const db = openDatabase(env);
beforeEach(loadTemplates);

/** The base system that an import detects. */
async function detected(files: RepositoryFiles, url = "http://mirror.example.org/linux"): Promise<string | undefined> {
  const { accountId } = await signedIn();
  const row = { accountId, name: "Linux", url, baseSystem: "other", arches: [] };
  const id = (await addRepository(db, { ...row, type: "rpm-md" }))?.id ?? 0;
  await importRepository({ env, db }, id, mirrorOf({ [url]: files }));
  const repository = await findRepository(db, id);
  expect(repository?.importState).toBe("ready");
  return repository?.baseSystem;
}

it("is detected from the address", async () => {
  expect(await detected(rpmMd(["a-good-1"]), "http://mirror.example.org/tiny-1.0/x")).toBe("tiny-1.0");
});

it("is detected from the distribution's name in the index", async () => {
  expect(await detected(rpmMd(["a-good-1"], { cpeId: "cpe:/o:kiln:tiny:1.0" }))).toBe("tiny-1.0");
});

it("is detected from the release package", async () => {
  const release = "tiny-release-1 provides product(TinyLinux) = 1.0-1";
  expect(await detected(rpmMd(["a-good-1", release]))).toBe("tiny-1.0");
});

it("is detected from the release package, even after an i686 resolution", async () => {
  const i686 = { key: "none", arch: "i686", packageType: "rpm" } as const;
  {
    using lease = await solverPool.acquire(i686);
    lease.loaded();
  }
  const release = "tiny-release-1.1 provides product(TinyLinux) = 1.0-1";
  expect(await detected(rpmMd(["a-good-1", release]))).toBe("tiny-1.0");
});

it("is `other` if nothing identifies it", async () => {
  expect(await detected(rpmMd(["a-good-1"]))).toBe("other");
});
