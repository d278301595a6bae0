import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { FrozenInput, FrozenPackage } from "../../src/contract.ts";
import { writeDebRepository } from "../../src/packages/deb-repository.ts";
import { packageFile } from "../../src/packages/package-file.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { frozenInput } from "../support/frozen-input.ts";

let dir: string;
beforeEach(async () => {
  const temporary = await temporaryDir();
  onTestFinished(() => temporary[Symbol.asyncDispose]());
  dir = temporary.path;
});

/** Makes a package with dpkg-deb in the place where the agent puts a fetched one. */
function makePackage(name: string, version: string, more = ""): FrozenPackage {
  const control = `Package: ${name}\nVersion: ${version}\nArchitecture: all\nMaintainer: x\nDescription: x\n${more}`;
  mkdirSync(join(dir, "tree/DEBIAN"), { recursive: true });
  writeFileSync(join(dir, "tree/DEBIAN/control"), control);
  execFileSync("dpkg-deb", ["--build", "--root-owner-group", join(dir, "tree"), join(dir, "made.deb")]);
  const value = createHash("sha256")
    .update(readFileSync(join(dir, "made.deb")))
    .digest("hex");
  const frozen: FrozenPackage = {
    name,
    epoch: 0,
    version,
    release: "",
    arch: "all",
    repository: "main",
    location: "pool/x.deb",
    size: 0,
    checksum: { type: "sha256", value },
    control,
  };
  mkdirSync(join(dir, "packages"), { recursive: true });
  renameSync(join(dir, "made.deb"), join(dir, "packages", packageFile(frozen)));
  return frozen;
}

const inputOf = (packages: FrozenPackage[], more: Partial<FrozenInput> = {}): FrozenInput => ({
  ...frozenInput({ packages }),
  packageType: "deb",
  debRelease: "bookworm",
  ...more,
});

/** Runs the apt of an empty system, which knows only this repository. */
function apt(...words: string[]): string {
  writeFileSync(join(dir, "status"), "");
  writeFileSync(join(dir, "sources"), `deb [trusted=yes check-valid-until=no] file:${dir}/packages bookworm main\n`);
  for (const name of ["state/lists/partial", "cache/archives/partial"]) mkdirSync(join(dir, name), { recursive: true });
  const own = {
    "Dir::State": join(dir, "state"),
    "Dir::State::status": join(dir, "status"),
    "Dir::Cache": join(dir, "cache"),
    "Dir::Etc::sourcelist": join(dir, "sources"),
    "Dir::Etc::sourceparts": "-",
    "APT::Sandbox::User": "root",
    "APT::Architecture": "amd64",
    "Debug::NoLocking": "true",
  };
  const options = Object.entries(own).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  return execFileSync("apt-get", [...options, ...words], { encoding: "utf8", stdio: "pipe" });
}

describe("the repository of a Debian build", () => {
  it("lets apt install exactly the frozen versions, and what they depend on", async () => {
    const hello = makePackage("hello", "1.0", "Depends: greeting (>= 2)\n");

    await writeDebRepository(inputOf([hello, makePackage("greeting", "2.0")]), join(dir, "packages"));

    apt("update");
    const plan = apt("--simulate", "install", "hello=1.0");
    expect(plan.match(/^Inst .*/gm)).toEqual(["Inst greeting (2.0 bookworm [all])", "Inst hello (1.0 bookworm [all])"]);
    expect(apt("--print-uris", "install", "hello")).toContain(`/packages/${packageFile(hello)}`);
  });

  it("is the same whenever it is written", async () => {
    const input = inputOf([makePackage("hello", "1.0")], { sourceDate: 1_767_225_600 });
    const release = () => readFileSync(join(dir, "packages/dists/bookworm/Release"), "utf8");

    await writeDebRepository(input, join(dir, "packages"));
    const first = release();
    await writeDebRepository(input, join(dir, "packages"));

    expect(release()).toBe(first);
    expect(first).toContain("Date: Thu, 01 Jan 2026 00:00:00 GMT\n");
  });

  it("needs what the repository said of each package", async () => {
    const { control: _, ...bare } = makePackage("hello", "1.0");

    await expect(writeDebRepository(inputOf([bare]), join(dir, "packages"))).rejects.toThrow(
      "hello-1.0.all was frozen without its entry in the repository",
    );
  });
});
