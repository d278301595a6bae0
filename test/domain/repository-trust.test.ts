import { env } from "cloudflare:workers";
import { createMessage, generateKey, readPrivateKey, sign } from "openpgp";
import { beforeEach, describe, expect, it } from "vitest";
import { RepositoryTrust } from "#lib/contract/index";
import { importRepository } from "#domain/repositories/import";
import { trustOf } from "#domain/repositories/trust";
import { hexDigest } from "#lib/repodata/checksum";
import { openDatabase } from "#storage/db";
import { addRepository, findRepository } from "#storage/repositories";
import { signedIn } from "../support/client.ts";
import { mirrorOf, rpmMd, type RepositoryFiles } from "../support/mirror.ts";

const db = openDatabase(env);
const url = "http://mirror.example.org/signed";
const index = "repodata/repomd.xml";

let repositoryId: number;
beforeEach(async () => {
  const { accountId } = await signedIn();
  const added = await addRepository(db, {
    accountId,
    name: "Signed",
    url,
    baseSystem: "other",
    arches: [],
    type: "rpm-md",
  });
  repositoryId = added?.id ?? expect.fail("it already exists");
});

const importing = (files: RepositoryFiles) => importRepository({ env, db }, repositoryId, mirrorOf({ [url]: files }));
const row = async () => (await findRepository(db, repositoryId)) ?? expect.fail("the repository is gone");

async function makeKey(name: string) {
  const made = await generateKey({ userIDs: [{ name }], format: "armored" });
  const secret = await readPrivateKey({ armoredKey: made.privateKey });
  return { secret, armour: made.publicKey, fingerprint: secret.getFingerprint() };
}

/** The files, with a signature and the public keys next to them. */
async function signed(
  files: RepositoryFiles,
  key: Awaited<ReturnType<typeof makeKey>>,
  armour = key.armour,
): Promise<RepositoryFiles> {
  const message = await createMessage({ binary: new TextEncoder().encode(String(files[index])) });
  const signature = await sign({ message, signingKeys: key.secret, detached: true });
  return { ...files, [`${index}.asc`]: String(signature), [`${index}.key`]: armour };
}

describe("the trust data of a repository", () => {
  it("contains the signed index, its signer, and the keys next to it", async () => {
    const [owner, second] = [await makeKey("owner"), await makeKey("second")];
    const files = await signed(rpmMd(["vim-9.1"]), owner, `${owner.armour}\n${second.armour}`);
    await importing(files);

    const trust = RepositoryTrust.parse(trustOf(await row()));
    expect(trust).toMatchObject({
      index,
      indexSha256: hexDigest("sha256", new TextEncoder().encode(String(files[index]))),
      signedBy: owner.fingerprint,
    });
    expect(trust.keys.map(({ name, fingerprint }) => [name, fingerprint])).toEqual([
      ["owner", owner.fingerprint],
      ["second", second.fingerprint],
    ]);
    expect(trust.keys[0]?.armour).toContain("BEGIN PGP PUBLIC KEY BLOCK");
  });

  it("contains no secret key, even if one is next to the index", async () => {
    const owner = await makeKey("owner");
    await importing(await signed(rpmMd(["vim-9.1"]), owner, `${owner.armour}\n${owner.secret.armor()}`));
    expect(JSON.stringify((await row()).signingKeys)).not.toContain("PRIVATE");
  });

  it("contains exactly the keys that the signed index names", async () => {
    const [owner, maker, stranger] = [await makeKey("owner"), await makeKey("maker"), await makeKey("stranger")];
    const files = rpmMd(["vim-9.1"]);
    const hints = [
      ["aaaaaaaa", maker.fingerprint.toUpperCase()],
      ["bbbbbbbb", maker.fingerprint],
      ["cccccccc", stranger.fingerprint],
      ["dddddddd", stranger.fingerprint],
    ].map(([name, fingerprint]) => `<content>gpg-pubkey-${name}-00000000.asc?fpr=${fingerprint}</content>`);
    const hinting = String(files[index]).replace("<data", `<tags>${hints.join("")}</tags><data`);
    await importing({
      ...(await signed({ ...files, [index]: hinting }, owner)),
      "gpg-pubkey-aaaaaaaa-00000000.asc": maker.armour,
      "gpg-pubkey-bbbbbbbb-00000000.asc": stranger.armour, // the key's fingerprint differs from the one in the index
      "gpg-pubkey-cccccccc-00000000.asc": "rubbish",
    });
    expect(trustOf(await row())?.keys.map(({ name }) => name)).toEqual(["owner", "maker"]);
  });

  it("is null for an unsigned repository", async () => {
    await importing(rpmMd(["vim-9.1"]));
    expect(trustOf(await row())).toBeNull();
  });

  it("is updated for an unchanged index with a new signature or key", async () => {
    const files = rpmMd(["vim-9.1"]);
    const owner = await makeKey("owner");
    await importing(files);
    await importing(await signed(files, owner));
    expect(trustOf(await row())?.signedBy).toBe(owner.fingerprint);

    await env.DB.prepare("UPDATE repositories SET signing_keys = NULL WHERE id = ?").bind(repositoryId).run();
    expect(trustOf(await row())).toBeUndefined();
    await importing(await signed(files, owner));
    expect(trustOf(await row())?.keys).toHaveLength(1);
  });

  it("uses yast2's name of the index", () => {
    const keys = [{ name: "", fingerprint: "ab".repeat(20), armour: "" }];
    const found = {
      type: "yast2" as const,
      url: "http://a.example.org",
      revision: "0".repeat(64),
      signer: "AB".repeat(20),
      signingKeys: keys,
    };
    expect(trustOf(found)).toMatchObject({ index: "content", signedBy: "ab".repeat(20) });
  });
});
