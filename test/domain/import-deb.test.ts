import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { importRepository } from "#domain/repositories/import";
import { trustOf } from "#domain/repositories/trust";
import { packageSetOf } from "#domain/software/resolution-request";
import { openDatabase } from "#storage/db";
import { addRepository, findRepository } from "#storage/repositories";
import { searchTexts } from "#storage/package-texts";
import { signingKeysOf } from "#lib/repodata/signature";
import { appliances, gpgKeys } from "#storage/schema";
import { appliance as applianceRow } from "../storage/calls/rows.ts";
import { signedIn } from "../support/client.ts";
import { archiveKey, debSuite } from "../support/deb.ts";
import { mirrorOf, type RepositoryFiles, rpmMd } from "../support/mirror.ts";

const db = openDatabase(env);
const lists = {
  "main/amd64": ["bash 5.2.15-2+b13", "tasksel 3.73 all", "task-ssh-server 3.73 all; Recommends: bash"],
  "main/i386": ["bash 5.2.15-2+b12 i386", "tasksel 3.73 all"],
  "contrib/amd64": ["extra 1"],
};

let account: number;
let root: string;
beforeEach(async () => {
  account = (await signedIn()).accountId;
  root = `http://mirror.example.org/${account}`;
});

/** A repository of an account, or one of a catalogue, with its keys. */
async function added(url: string, catalogue?: { armour: string }): Promise<number> {
  const signingKeys = catalogue && (await signingKeysOf(new TextEncoder().encode(catalogue.armour)));
  const owner = catalogue ? { catalogue: root, type: "deb" as const, arches: ["x86_64" as const], signingKeys } : {};
  const row = { accountId: account, name: "suite", url, baseSystem: "other", type: "rpm-md" as const, arches: [] };
  return (await addRepository(db, { ...row, ...owner }))?.id ?? expect.fail("it is not stored");
}

const row = async (id: number) => (await findRepository(db, id)) ?? expect.fail("it is gone");

async function imported(url: string, files: RepositoryFiles, catalogue?: { armour: string }) {
  const id = await added(url, catalogue);
  const mirror = mirrorOf({ [url.replace(/#.*/, "")]: files });
  await importRepository({ env, db }, id, mirror);
  return { id, asked: mirror.asked, row: await row(id) };
}

const found = async (id: number, q: string) =>
  searchTexts(db, { arches: ["all", "amd64", "i386"], repositories: [await row(id)], q, limit: 100 });

describe("a repository of deb", () => {
  it("whose list ends the reader has a problem", async () => {
    const deep = { "main/amd64": [`a 1; Depends: ${"a|".repeat(1_500_000)}a`] };
    const { row } = await imported(`${root}/dists/test`, await debSuite({ lists: deep }));
    expect(row).toMatchObject({ importState: "failed", problem: expect.stringContaining("nests too deeply") });
  });

  it("is known by its index, and has lists for each component and architecture", async () => {
    const { id, row } = await imported(`${root}/dists/test#main,contrib`, await debSuite({ lists }));
    expect(row).toMatchObject({
      problem: null,
      type: "deb",
      arches: ["x86_64", "i586"],
      packageCount: 5,
      signer: null,
    });
    expect(await found(id, "tasksel")).toMatchObject([{ version: "3.73", release: "", arch: "all", pattern: null }]);
    expect(await found(id, "the package extra")).toMatchObject([{ name: "extra" }]);
    expect(await found(id, "task-ssh")).toMatchObject([{ pattern: "task-ssh-server" }]);
  });

  it("has the component main, unless its address names others", async () => {
    expect((await imported(`${root}/dists/test`, await debSuite({ lists }))).row.packageCount).toBe(4);
    expect((await imported(`${root}/dists/test#contrib`, await debSuite({ lists }))).row.packageCount).toBe(1);
  });

  it("may be flat", async () => {
    const files = await debSuite({ lists: { "": ["only 1.0-1"] } });
    expect((await imported(`${root}/flat`, files)).row).toMatchObject({ type: "deb", packageCount: 1 });
  });

  it.each(["gz", "zst", "none"] as const)("may be compressed by %s, and had by checksum", async (compression) => {
    const files = await debSuite({ lists, compression, byHash: true });
    const { row, asked } = await imported(`${root}/dists/${compression}`, files);
    expect(row).toMatchObject({ problem: null, packageCount: 4 });
    expect(asked.filter((url) => url.includes("/by-hash/SHA256/"))).toHaveLength(2);
  });

  it("is refused if it has been valid until a week ago", async () => {
    const files = await debSuite({ lists, validUntil: "Sat, 28 Nov 2020 00:53:02 UTC" });
    expect((await imported(`${root}/dists/old`, files)).row.problem).toContain("valid until 2020-11-28");
  });

  it("is refused if a list is not the one in its index", async () => {
    const files = await debSuite({ lists });
    const list = { "main/binary-amd64/Packages.gz": files["main/binary-i386/Packages.gz"] ?? "" };
    expect((await imported(`${root}/dists/test`, { ...files, ...list })).row.problem).toMatch(/larger|sha256|bytes/);
  });
});

describe("a repository of a catalogue with keys", () => {
  it("is signed by one of them, and imports its own architectures", async () => {
    const [key, other] = [await archiveKey("Archive"), await archiveKey("Other")];
    const files = await debSuite({ lists, key: key.secret });
    const { row } = await imported(`${root}/dists/test`, files, { armour: `${other.armour}\n${key.armour}` });
    expect(row).toMatchObject({ problem: null, arches: ["x86_64"], packageCount: 3 });
    expect(trustOf(row)).toMatchObject({ index: "dists/test/InRelease", signedBy: key.secret.getFingerprint() });
  });

  it("is imported again if its catalogue names other architectures, although its index is the same", async () => {
    const key = await archiveKey();
    const url = `${root}/dists/test`;
    const files = await debSuite({ lists, key: key.secret });
    const { id, row: before } = await imported(url, files, key);
    await env.DB.prepare("UPDATE repositories SET arches = ? WHERE id = ?").bind('["x86_64","i586"]', id).run();
    await importRepository({ env, db }, id, mirrorOf({ [url]: files }));
    const after = await row(id);
    expect(after).toMatchObject({ problem: null, revision: before.revision, packageCount: 4 });
    const setOf = (one: typeof after) =>
      packageSetOf({ arch: "x86_64", baseSystem: undefined, repositories: [one] }).key;
    expect(setOf(after)).not.toBe(setOf(before));
    await importRepository({ env, db }, id, mirrorOf({ [url]: files }));
    expect((await row(id)).importId).toBe(after.importId);
  });

  it("may change to another of the keys", async () => {
    const [first, second] = [await archiveKey("First"), await archiveKey("Second")];
    const url = `${root}/dists/test`;
    const { id } = await imported(url, await debSuite({ lists, key: first.secret }), {
      armour: `${first.armour}\n${second.armour}`,
    });
    const files = await debSuite({ lists: { "main/amd64": ["bash 6"] }, key: second.secret });
    await importRepository({ env, db }, id, mirrorOf({ [url]: files }));
    expect(await row(id)).toMatchObject({ problem: null, packageCount: 1 });
  });

  it("is refused with another signature, a changed text, or none", async () => {
    const [key, other] = [await archiveKey("Archive"), await archiveKey("Other")];
    const files = await debSuite({ lists, key: key.secret });
    const changed = { ...files, InRelease: String(files.InRelease).replace("Origin: Test", "Origin: Best") };
    const unsigned = await debSuite({ lists });
    const foreign = await debSuite({ lists, key: other.secret });
    for (const [n, wrong] of [changed, unsigned, foreign].entries()) {
      const { row } = await imported(`${root}/dists/test${n}`, wrong, key);
      expect(row).toMatchObject({ importState: "failed", problem: expect.stringMatching(/signature|signed/) });
    }
  });

  it("reads nothing outside what is signed", async () => {
    const key = await archiveKey();
    const { InRelease, ...files } = await debSuite({ lists, key: key.secret });
    const more = `SHA256:\n ${"0".repeat(64)} 1 main/binary-amd64/Packages\n\n${InRelease}`;
    const { row } = await imported(`${root}/dists/test`, { ...files, InRelease: more }, key);
    expect(row.importState === "failed" || row.packageCount === 3).toBe(true);
  });
});

async function withKey(url: string, armour: string, more: { acceptsExpired?: boolean } = {}) {
  const signingKeys = await signingKeysOf(new TextEncoder().encode(armour));
  const own = { accountId: account, name: "own", url, baseSystem: "other", type: "rpm-md" as const, arches: [] };
  return (await addRepository(db, { ...own, signingKeys, ...more }))?.id ?? expect.fail("it is not stored");
}

describe("a repository that a person added with a key", () => {
  it("must be signed by it, at every import", async () => {
    const [key, other] = [await archiveKey("Ours"), await archiveKey("Other")];
    const url = `${root}/dists/own`;
    const id = await withKey(url, key.armour);
    await importRepository({ env, db }, id, mirrorOf({ [url]: await debSuite({ lists, key: key.secret }) }));
    const first = await row(id);
    expect(first).toMatchObject({ problem: null, type: "deb", packageCount: 4 });
    expect(trustOf(first)).toMatchObject({
      index: "dists/own/InRelease",
      indexSha256: first.revision,
      signedBy: key.secret.getFingerprint(),
      keys: [{ fingerprint: key.secret.getFingerprint() }],
    });

    const newer = { "main/amd64": ["bash 6"] };
    for (const secret of [other.secret, undefined]) {
      const files = await debSuite({ lists: newer, ...(secret && { key: secret }) });
      await importRepository({ env, db }, id, mirrorOf({ [url]: files }));
      const { problem, revision } = await row(id);
      expect([problem, revision]).toEqual([expect.stringMatching(/signature|signed/), first.revision]);
    }
  });

  it("is refused if another key signed it, or if it is one of rpm", async () => {
    const [key, other] = [await archiveKey("Ours"), await archiveKey("Other")];
    const wrong: RepositoryFiles[] = [await debSuite({ lists, key: other.secret }), rpmMd(["vim-9"])];
    for (const [n, files] of wrong.entries()) {
      const url = `${root}/dists/wrong${n}`;
      const id = await withKey(url, key.armour);
      await importRepository({ env, db }, id, mirrorOf({ [url]: files }));
      expect(await row(id)).toMatchObject({
        importState: "failed",
        problem: expect.stringMatching(/signature is not|a key can be given only for a Debian repository/),
      });
    }
  });

  it("is used after its end only if its owner has chosen that", async () => {
    const key = await archiveKey("Ours");
    const files = await debSuite({ lists, key: key.secret, validUntil: "Sat, 28 Nov 2020 00:53:02 UTC" });
    const url = `${root}/dists/expired`;
    const id = await withKey(url, key.armour);
    await importRepository({ env, db }, id, mirrorOf({ [url]: files }));
    expect((await row(id)).problem).toContain("valid until 2020-11-28");
    await env.DB.prepare("UPDATE repositories SET accepts_expired = 1 WHERE id = ?").bind(id).run();
    await importRepository({ env, db }, id, mirrorOf({ [url]: files }));
    expect(await row(id)).toMatchObject({ problem: null, packageCount: 4 });
  });
});

/** Gives a key to one of the account's appliances. */
async function keyOfAppliance(armour: string, ofAccount = account) {
  const [{ fingerprint = "" } = {}] = await signingKeysOf(new TextEncoder().encode(armour));
  const { id: _id, ...row } = applianceRow;
  const [added] = await db
    .insert(appliances)
    .values({ ...row, accountId: ofAccount, uuid: crypto.randomUUID() })
    .returning();
  const key = { name: "ours", target: "rpm" as const, fingerprint, key: armour, createdAt: new Date() };
  await db.insert(gpgKeys).values({ ...key, applianceId: added?.id ?? 0 });
}

describe("a repository that a person added without a key", () => {
  it("must be signed by a key of one of the account's appliances from the first such signature on", async () => {
    const key = await archiveKey("Ours");
    const url = `${root}/dists/known`;
    const files = await debSuite({ lists, key: key.secret });
    const { id, row: before } = await imported(url, files);
    expect(before.signer).toBeNull();

    await keyOfAppliance((await archiveKey("Unrelated")).armour);
    await keyOfAppliance(key.armour);
    await importRepository({ env, db }, id, mirrorOf({ [url]: files }));
    expect(trustOf(await row(id))).toMatchObject({
      signedBy: key.secret.getFingerprint(),
      keys: [{ fingerprint: key.secret.getFingerprint() }],
    });

    await importRepository(
      { env, db },
      id,
      mirrorOf({ [url]: await debSuite({ lists: { "main/amd64": ["bash 6"] } }) }),
    );
    expect(await row(id)).toMatchObject({ packageCount: 4, problem: expect.stringMatching(/must be signed/) });
  });

  it("takes no key of another account's appliance", async () => {
    const key = await archiveKey("Ours");
    await keyOfAppliance(key.armour, (await signedIn()).accountId);
    const { row } = await imported(`${root}/dists/other`, await debSuite({ lists, key: key.secret }));
    expect(row).toMatchObject({ problem: null, signer: null });
  });
});

it("keeps its type of packages", async () => {
  const url = `${root}/dists/test`;
  const { id } = await imported(url, await debSuite({ lists }));
  await importRepository({ env, db }, id, mirrorOf({ [url]: rpmMd(["vim-9"]) }));
  expect(await row(id)).toMatchObject({ type: "deb", problem: "it has rpm packages instead of deb packages" });
});
