import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { FrozenInput, FrozenKey } from "../../src/contract.ts";
import { checkTrust } from "../../src/packages/check-trust.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { layPackage, openSigning, type Signing } from "./signing.ts";

let signing: Signing;
let owner: FrozenKey;
let stranger: FrozenKey;
let good: Buffer;
beforeAll(() => {
  signing = openSigning();
  [owner, stranger] = [signing.makeKey("owner"), signing.makeKey("stranger")];
  good = signing.makePackage("hello", owner);
});
afterAll(() => signing.close());

let workDir: string;
beforeEach(async () => {
  const temporary = await temporaryDir();
  onTestFinished(() => temporary[Symbol.asyncDispose]());
  workDir = temporary.path;
  chmodSync(workDir, 0o700); // like a build's directory, which other users cannot enter
  mkdirSync(join(workDir, "packages"));
});

const index = "<repomd/>";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Serves these files, and 404 for anything else. */
async function serve(files: Record<string, string | undefined>, otherwise = 404): Promise<string> {
  const server = createServer((request, response) => {
    const body = files[(request.url ?? "").replace("/linux/", "")];
    response.writeHead(body === undefined ? otherwise : 200).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Wish {
  files?: Record<string, string | undefined>;
  packages?: Buffer[];
  /** Keys of the repository. */
  keys?: FrozenKey[];
  trust?: FrozenInput["repositories"][number]["trust"];
  /** The appliance's own keys. */
  own?: FrozenKey[];
  /** The status code for missing files. */
  otherwise?: number;
}

/** Checks the packages; returns the log. */
async function check(wish: Wish = {}): Promise<string> {
  const { packages = [good], keys = [owner] } = wish;
  const signed = { "repodata/repomd.xml": index, "repodata/repomd.xml.asc": signing.sign(index, owner) };
  const host = await serve(wish.files ?? signed, wish.otherwise);
  const trust = {
    index: "repodata/repomd.xml" as const,
    indexSha256: sha256(index),
    signedBy: owner.fingerprint,
    keys,
  };
  const dir = join(workDir, "packages");
  const lines: string[] = [];
  await checkTrust({
    input: {
      packages: packages.map((bytes) => layPackage(dir, bytes, "hello")),
      repositories: [
        {
          alias: "main",
          id: 7,
          name: "Main",
          url: `http://${host}/linux`,
          trust: "trust" in wish ? wish.trust : trust,
        },
      ],
      keys: wish.own,
    },
    dir,
    workDir,
    reach: { url: "http://127.0.0.1:1", credentials: {}, allowHosts: [host] },
    signal: new AbortController().signal,
    onLine: (line) => void lines.push(line.replace(/^.*Kiln: the repository /, "")),
  });
  expect(readdirSync(workDir)).toEqual(["packages"]);
  expect(readdirSync(dir).every((name) => /^[0-9a-f]{64}\.rpm$/.test(name))).toBe(true);
  return lines.join("\n");
}

const keyId = (key: FrozenKey) => key.fingerprint.slice(-8);
const failed = (message: RegExp) => ({ kind: "failed", message: expect.stringMatching(message) });

describe("packages of a signed repository", () => {
  it("are accepted if its key has signed them", async () => {
    expect(await check()).toBe(
      `Main has an index signed by the key ${owner.fingerprint}\nMain has signed packages: 1 of 1`,
    );
  });

  it("are refused unsigned", async () => {
    const refused = check({ packages: [good, signing.makePackage("hello")] });
    await expect(refused).rejects.toMatchObject(failed(/^hello-1\.0-1\.noarch of the repository Main is not signed\./));
  });

  it("are refused if an unknown key signed them, which is named", async () => {
    const refused = check({ packages: [good, signing.makePackage("hello", stranger)] });
    const message = new RegExp(
      `^hello-1.0-1.noarch of the repository Main is signed by the key ${keyId(stranger)}, which`,
    );
    await expect(refused).rejects.toMatchObject(failed(message));
  });

  it("are accepted if the appliance's own keys include the signer", async () => {
    const said = await check({ packages: [good, signing.makePackage("hello", stranger)], own: [stranger] });
    expect(said).toContain("signed packages: 2 of 2");
  });

  it("are refused if only an extra key in the armour signed them", async () => {
    const keys = [{ ...owner, armour: signing.exported(owner, stranger) }];
    const refused = check({ keys, packages: [good, signing.makePackage("hello", stranger)] });
    await expect(refused).rejects.toMatchObject(failed(/is signed by the key/));
  });

  it("are refused if their key was revoked, unlike others", async () => {
    const leaver = signing.makeKey("leaver");
    const theirs = signing.makePackage("hello", leaver);
    const files = { "repodata/repomd.xml": "<newer/>" };
    expect(await check({ files, keys: [owner, leaver], packages: [good, theirs] })).toContain("packages: 2 of 2");
    const keys = [owner, signing.revoked(leaver)];
    expect(await check({ files, keys })).toContain("signed packages: 1 of 1");
    await expect(check({ files, keys, packages: [good, theirs] })).rejects.toMatchObject(
      failed(new RegExp(`Main is signed by the key ${keyId(leaver)}, which its owner has revoked`)),
    );
  });

  it("are refused if they differ from what was signed", async () => {
    const changed = Buffer.from(good);
    changed.writeUInt8(changed.readUInt8(changed.length - 3) ^ 1, changed.length - 3);
    await expect(check({ packages: [changed] })).rejects.toMatchObject(failed(/Main is not what was signed/));
  });

  it("are refused if they are not packages", async () => {
    await expect(check({ packages: [Buffer.from("rubbish")] })).rejects.toMatchObject(failed(/Main is not signed/));
  });
});

describe("the index of a signed repository", () => {
  it("can be signed by any of its keys", async () => {
    expect(await check({ keys: [stranger, owner] })).toContain("has an index signed by");
  });

  it.each([
    ["an unknown key's signature", () => signing.sign(index, stranger)],
    ["its key's signature of another file", () => signing.sign("<else/>", owner)],
    ["an invalid signature", () => "rubbish"],
    ["its signature removed", () => undefined],
  ])("is refused with %s", async (_, signature) => {
    const files = { "repodata/repomd.xml": index, "repodata/repomd.xml.asc": signature() };
    await expect(check({ files })).rejects.toMatchObject(
      failed(new RegExp(`index of the repository Main is no longer signed by its key ${owner.fingerprint}`)),
    );
  });

  it("can have changed since: the packages' signatures decide", async () => {
    const files = { "repodata/repomd.xml": "<newer/>" };
    expect(await check({ files })).toContain("a different index than when the packages were chosen");
    await expect(check({ files, packages: [signing.makePackage("hello")] })).rejects.toMatchObject(
      failed(/not signed/),
    );
  });

  it("can be unreachable: the packages' signatures decide", async () => {
    expect(await check({ files: {}, otherwise: 403 })).toContain("did not deliver its index: GET: HTTP 403");
  });
});

describe("an expired key", () => {
  it("still proves signatures made before", async () => {
    const then = openSigning({ time: "20200102T000000" });
    try {
      const old = then.makeKey("old", "1y");
      const files = { "repodata/repomd.xml": index, "repodata/repomd.xml.asc": then.sign(index, old) };
      expect(await check({ files, keys: [old], packages: [then.makePackage("hello", old)] })).toMatch(
        /has an index signed by the key .*\n.* signed packages: 1 of 1$/,
      );
    } finally {
      then.close();
    }
  });
});

describe("unsigned repositories", () => {
  it("are reported", async () => {
    expect(await check({ trust: null, packages: [signing.makePackage("hello")] })).toBe(
      "Main is not signed: its packages are compared with their checksums only",
    );
  });

  it("are accepted in older inputs", async () => {
    expect(await check({ trust: undefined, packages: [signing.makePackage("hello")] })).toBe("");
  });
});

const release = () => signing.clearSign("Suite: bookworm\n", owner);

describe("packages of a signed Debian repository", () => {
  const path = "dists/bookworm/InRelease";
  const checkDebian = async (served: string | undefined, chosen: string): Promise<string> => {
    const host = await serve({ [path]: served });
    const lines: string[] = [];
    const trust = { index: path, indexSha256: sha256(chosen), signedBy: owner.fingerprint, keys: [owner] };
    const control = "Package: hello\nVersion: 1.0\n";
    const hello = { name: "hello", epoch: 0, version: "1.0", release: "", arch: "all", repository: "main", size: 1 };
    const frozen = {
      ...hello,
      control,
      location: "pool/hello.deb",
      checksum: { type: "sha256" as const, value: "0".repeat(64) },
    };
    await checkTrust({
      input: {
        packageType: "deb",
        packages: [frozen],
        repositories: [{ alias: "main", id: 7, name: "Debian", url: `http://${host}/linux`, trust }],
      },
      dir: workDir,
      workDir,
      reach: { url: "http://127.0.0.1:1", credentials: {}, allowHosts: [host] },
      signal: new AbortController().signal,
      onLine: (line) => void lines.push(line.replace(/^.*Kiln: the repository /, "")),
    });
    return lines.join("\n");
  };

  it("need no signature of their own: the index inside whose signature their checksums begin is the frozen one", async () => {
    const signed = release();
    expect(await checkDebian(signed, signed)).toBe(`Debian has an index signed by the key ${owner.fingerprint}`);
  });

  it("are told apart from a newer index, and from one out of reach", async () => {
    const signed = release();
    expect(await checkDebian("Suite: trixie\n", signed)).toBe(
      "Debian has a different index than when the packages were chosen",
    );
    expect(await checkDebian(undefined, signed)).toMatch(/^Debian did not deliver its index: /);
  });

  it("are refused if the frozen index is signed by another key", async () => {
    const signed = signing.clearSign("Suite: bookworm\n", stranger);
    await expect(checkDebian(signed, signed)).rejects.toMatchObject(failed(/is no longer signed by its key/));
  });
});
