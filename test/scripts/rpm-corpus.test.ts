/** RPMs from the tests of other projects, of many ages and makers, read by Kiln's code and by rpm. */
import { execFileSync } from "node:child_process";
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkPackageSignatures } from "../../builder-agent/src/packages/package-signatures.ts";
import { packageFile } from "../../builder-agent/src/packages/package-file.ts";
import { nvra, type FrozenPackage } from "#lib/contract/index";
import { RepodataFault } from "#lib/repodata/fault";
import { readRepomd } from "#lib/repodata/repomd";
import { readRpmHeader, type RpmHeader } from "#lib/repodata/rpm-header";
import { unpackSource } from "./debian-sources.ts";
import { solverOf } from "./tiny-linux.ts";

const sources = {
  libdnf: {
    path: "main/libd/libdnf/libdnf_0.69.0.orig.tar.gz",
    sha256: "a79debe797050d5b99c6e81a8f19cf0d1d74f05749c422479f490db40cd53c45",
  },
  dnf: {
    path: "main/d/dnf/dnf_4.14.0.orig.tar.gz",
    sha256: "7de4eb8e85c4d9a74db6f1f827d2dd3348e265631f8678a1dbf7e3346beaad53",
  },
  rpm: {
    path: "main/r/rpm/rpm_4.18.0+dfsg.orig.tar.xz",
    sha256: "d0d9c58c036bc6308de6e195e898c10bf53eaef6f962c48b403e7cd262f4eb4d",
  },
};

// Readable for the unprivileged user that checks signatures.
const folder = mkdtempSync(join(tmpdir(), "kiln-corpus-"));
let files: string[];
beforeAll(async () => {
  for (const [name, archive] of Object.entries(sources)) await unpackSource(archive, join(folder, name));
  files = globSync("**/*.rpm", { cwd: folder }).toSorted();
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The part that is compared with `rpm`. */
const saidOf = (header: RpmHeader): string =>
  [header.name, header.epoch, header.version, header.release, header.license, header.builtAt].join("|");
const query = "%{NAME}|%|EPOCH?{%{EPOCH}}:{0}||%{VERSION}|%{RELEASE}|%{LICENSE}|%{BUILDTIME}\\n";

function read(path: string): RpmHeader | string {
  try {
    const reading = readRpmHeader(readFileSync(path));
    return "header" in reading ? reading.header : "cut off";
  } catch (error) {
    if (error instanceof RepodataFault) return error.message;
    throw error;
  }
}

describe("the RPMs of libdnf, dnf and rpm", () => {
  it("are there", () => expect(files.length).toBe(480));

  it("have the headers that rpm reads, each of them", () => {
    const options = ["--query", "--package", "--nosignature", "--nodigest", "--queryformat", query];
    const theirs = execFileSync("rpm", [...options, ...files], { cwd: folder, encoding: "utf8", maxBuffer: 2 ** 24 });
    const ours = files.map((file) => read(join(folder, file)));

    expect(ours.map((header) => (typeof header === "string" ? header : saidOf(header)))).toEqual(
      theirs.trimEnd().split("\n"),
    );
  });

  it("are refused, and nothing worse, wherever they are cut off or damaged", () => {
    for (const file of files.filter((_, index) => index % 16 === 0)) {
      const bytes = readFileSync(join(folder, file));
      for (let at = 0; at < bytes.length; at += Math.ceil(bytes.length / 40)) {
        const damaged = Uint8Array.from(bytes);
        damaged[at] = (damaged[at] ?? 0) ^ 0xff;
        for (const one of [bytes.subarray(0, at), damaged]) {
          try {
            readRpmHeader(one);
          } catch (error) {
            expect(error).toBeInstanceOf(RepodataFault);
          }
        }
      }
    }
  });
});

describe("the repositories of libdnf and dnf", () => {
  it("are read, with each package that their folder has", async () => {
    // No pool of Kiln accepts packages for s390x.
    const indexes = globSync("**/repodata/repomd.xml", { cwd: folder }).filter((path) => !path.includes("s390x"));
    let readAll = 0;
    for (const index of indexes) {
      const repomd = readRepomd(readFileSync(join(folder, index)));
      // Some of dnf's fixtures have only an SQLite database.
      if (!repomd.parts.some(({ type }) => type === "primary")) continue;
      readAll += 1;
      const place = join(folder, dirname(dirname(index)));
      const solver = await solverOf([{ name: "corpus", folder: place }]);
      const names = new Set(
        globSync("*.rpm", { cwd: place }).flatMap((name) => {
          const header = read(join(place, name));
          return typeof header === "string" ? [] : [header.name];
        }),
      );
      for (const name of names) expect([index, name, solver.providers(name).length > 0]).toEqual([index, name, true]);
    }
    expect(readAll).toBeGreaterThan(20);
  });
});

const key = () => {
  const armour = readFileSync(join(folder, "rpm/tests/data/keys/rpm.org-rsa-2048-test.pub"), "utf8");
  return { name: "rpm", fingerprint: "4344591e1964c5fc", armour };
};

/** The refusal; undefined: it is signed by one of the keys. */
async function judged(name: string, keys = [key()]): Promise<string | undefined> {
  const bytes = readFileSync(join(folder, "rpm/tests/data/RPMS", name));
  const dir = mkdtempSync(join(folder, "packages-"));
  const place = join(dir, "packages");
  mkdirSync(place);
  const header = read(join(folder, "rpm/tests/data/RPMS", name));
  if (typeof header === "string") throw new Error(header);
  const one: FrozenPackage = {
    ...header,
    repository: "main",
    location: name,
    checksum: { type: "sha256", value: createHash("sha256").update(bytes).digest("hex") },
    size: bytes.length,
  };
  copyFileSync(join(folder, "rpm/tests/data/RPMS", name), join(place, packageFile(one)));
  const check = { packages: [one], keys, dir: place, signal: new AbortController().signal };
  return await checkPackageSignatures({
    ...check,
    repository: { alias: "main", id: 1, name: "Main", url: "http://127.0.0.1/main" },
  }).then(
    () => undefined,
    (error: Error) => error.message.replace(nvra(one), basename(name)),
  );
}

describe("the signatures of rpm's own RPMs", () => {
  it("are good, of another key, damaged, or missing: each is told apart", async () => {
    expect(await judged("hello-2.0-1.x86_64-signed.rpm")).toBeUndefined();
    expect(await judged("hello-2.0-1.x86_64-signed.rpm", [])).toContain(
      "is signed by the key 1964c5fc, which is neither",
    );
    expect(await judged("hello-2.0-1.x86_64-corrupted.rpm")).toContain("is not what was signed");
    for (const name of ["hello-2.0-1.x86_64.rpm", "hello-1.0-1.i386.rpm", "foo-1.0-1.noarch.rpm"])
      expect(await judged(name)).toContain("is not signed");
  });
});
