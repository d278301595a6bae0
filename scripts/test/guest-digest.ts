import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { installedPackages } from "../../builder-agent/src/guest/host-packages.ts";
import { rootSources } from "../../builder-agent/src/guest/builder-root.ts";
import { packagesFor, purposes } from "../launch/host-packages.ts";
import { closureOf, type KnownFiles } from "./closure.ts";

/** The facts that decide the result of a guest test, in addition to the files of the checkout. */
export type HostFacts = readonly string[];

/** Files that always count: every npm package decides which code runs. */
const always = ["package-lock.json"];
/** Further files that count if one of these files is reached. */
const further = [
  // A whole service, with the sources of its bundle and the files that it loads by name.
  { from: "scripts/start.mjs", needs: ["src", "migrations", "templates", "sample-distribution", "wrangler.toml"] },
  // The solver in WebAssembly is not in git.
  { from: "src/lib/solver/native/kiln.h", needs: ["scripts/solver"] },
];

/** Files without effect: documentation, and what only browsers show, because guest tests send requests to the API. */
const noEffect = /\.md$|^src\/web\/(?:client|drawing|pages|parts|style)\//;

/**
 * A SHA-256 of everything that decides what a guest test builds and boots: the test and all files that it reaches, and
 * the facts about the host. It is the same in another clone, and on another host with the same packages.
 */
export function guestDigest(
  test: string,
  { root, known, facts }: { root: string; known: KnownFiles; facts: HostFacts },
): string {
  const starts = [test, ...always];
  const reached = closureOf(root, starts, known);
  const needs = further.flatMap(({ from, needs }) => (reached.includes(from) ? needs : []));
  const files = closureOf(root, [...starts, ...needs], known);
  const hash = createHash("sha256").update(JSON.stringify(facts));
  for (const file of files) {
    if (noEffect.test(file) || !existsSync(join(root, file))) continue;
    const content = decisivePart(file, readFileSync(join(root, file)));
    hash.update(`\0${file}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

/** The part of a file that affects a test: code without comments, types and spaces, and other files as a whole. */
function decisivePart(file: string, content: Buffer): Buffer {
  if (!/\.[cm]?[jt]sx?$/.test(file)) return content;
  const loader = file.endsWith("x") ? "tsx" : "ts";
  const options = { loader, jsx: "preserve", minifyWhitespace: true, legalComments: "none" } as const;
  return Buffer.from(transformSync(content.toString("utf8"), options).code);
}

/** The tracked files, and the untracked ones that git does not ignore. */
export const knownFiles = (root: string): KnownFiles =>
  execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root, encoding: "utf8" })
    .split("\0")
    .filter(Boolean);

/** Debian's meta package of the guests' kernel. A new kernel gives it a new version. */
const guestKernel = "linux-image-cloud-amd64";

/**
 * The firmware that boots disks with UEFI. Guest tests use no other test package: for example, they need no browser.
 */
const firmware = "ovmf";

/**
 * The versions of all packages that builds and emulators use, of the kernel that guests boot, and of the packages of
 * Tiny Linux. The host's own kernel does not count, because guests do not run it.
 */
export function hostFacts(sampleDistribution: string): HostFacts {
  const installed = installedPackages();
  const tools = packagesFor(purposes.filter((one) => one !== "tests")).map(({ debian }) => debian);
  const names = new Set([...tools, firmware, ...rootSources().packages.map(({ name }) => name)]);
  const versions = [...names].toSorted().map((name) => `${name} ${installed.get(name)?.version ?? "is missing"}`);
  const kernel = execFileSync("apt-cache", ["show", "--no-all-versions", guestKernel], { encoding: "utf8" });
  return [
    ...versions,
    `guests' kernel ${/^Version: (.*)$/m.exec(kernel)?.[1] ?? "unknown"}`,
    `Tiny Linux ${readFileSync(join(sampleDistribution, "inputs-hash"), "utf8").trim()}`,
  ];
}
