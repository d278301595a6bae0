import { env } from "cloudflare:workers";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { importRepository } from "#domain/repository-import";
import { openDatabase } from "#storage/db";
import { searchPackages } from "#storage/packages";
import { addRepository, findRepository, listSolvables } from "#storage/repositories";
import { signedIn } from "../support/client.ts";
import { mirrorOf, type RepositoryFiles } from "../support/mirror.ts";

const db = openDatabase(env.DB);
const url = "http://mirror.example.org/halden";
const sha1 = (bytes: Uint8Array) => createHash("sha1").update(bytes).digest("hex");
const gzipped = (text: string) => new Uint8Array(gzipSync(text));

const packages = gzipped(
  [
    "=Ver: 2.0",
    "##----------------------------------------",
    "=Pkg: a-lib 1.0 1 x86_64",
    "=Cks: SHA1 0123456789012345678901234567890123456789",
    "=Loc: 1 a-lib-1.0-1.x86_64.rpm x86_64",
    "=Siz: 100 200",
    "",
  ].join("\n"),
);
const english = gzipped("=Ver: 2.0\n=Pkg: a-lib 1.0 1 x86_64\n=Sum: The letter A\n+Des:\nIt is the first.\n-Des:\n");

const halden = (announced = sha1(packages)): RepositoryFiles => ({
  content: [
    "LABEL Halden 12.1",
    "DISTRO cpe:/o:halden:halden:12.1,Halden 12.1",
    "DESCRDIR suse/setup/descr",
    "DATADIR suse",
    `META SHA1 ${announced}  packages.gz`,
    `META SHA1 ${sha1(english)}  packages.en.gz`,
    "",
  ].join("\n"),
  "suse/setup/descr/packages.gz": packages,
  "suse/setup/descr/packages.en.gz": english,
});

async function imported(files: RepositoryFiles) {
  const { accountId } = await signedIn();
  const row = { accountId, name: "Halden", url, baseSystem: "other", type: "rpm-md" as const, arches: [] };
  const id = (await addRepository(db, row))?.id ?? 0;
  await importRepository(env, db, id, mirrorOf({ [url]: files }));
  return { id, repository: await findRepository(db, id) };
}

it("imports the layout before rpm-md with its texts", async () => {
  const { id, repository } = await imported(halden());

  expect(repository).toMatchObject({ type: "yast2", importState: "ready", problem: null, packageCount: 1 });
  const found = await searchPackages(db, { repositoryIds: [id], q: "letter a", allFields: true, limit: 10 });
  expect(found).toMatchObject([{ name: "a-lib", version: "1.0", checksumType: "sha1" }]);
});

it("knows where the packages of the layout before rpm-md lie", async () => {
  const { id } = await imported(halden());

  expect(await listSolvables(db, [id])).toMatchObject([{ packagesFolder: "suse" }]);
  const location = await env.DB.prepare("SELECT location FROM packages WHERE repository_id = ?")
    .bind(id)
    .first("location");
  expect(location).toBe("suse/x86_64/a-lib-1.0-1.x86_64.rpm");
});

it("refuses it whole when its list of packages is not the announced one", async () => {
  const { repository } = await imported(halden("0".repeat(40)));
  expect(repository).toMatchObject({
    importState: "failed",
    revision: null,
    parts: [],
    problem: expect.stringMatching(/announced/),
  });
});
