/** Compares with rpm, createrepo_c, zypper and libsolv's repo2solv, on packages that rpmbuild makes here. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { XMLParser } from "fast-xml-parser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pickPart, readRepomd } from "#lib/repodata/repomd";
import { buildSampleDistribution, findSampleDistribution } from "../../scripts/launch/sample-distribution.ts";
import { type RpmHeader, readRpmHeader } from "#lib/repodata/rpm-header";
import { type RepositoryFile, type RepositoryPackage, writeRpmMd } from "#lib/repodata/rpm-md";

const directory = mkdtempSync(join(tmpdir(), "repodata-"));
const ours = join(directory, "ours");
const theirs = join(directory, "theirs");
const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, LC_ALL: "C.UTF-8" },
  });

const rich = `Name: rich
Epoch: 2
Version: 1.0~rc1
Release: 3^git
Summary: Everything a header can say <&> "ä€"
License: MIT
Group: System/Base
URL: https://example.invalid/?a=1&b=2
Vendor: Häuser & Söhne
Packager: Rhea Quill <rhea@example.invalid>
BuildArch: noarch
Provides: pattern() = base
Provides: tool = 1:2.0-1
Provides: tool(x86-64)
Requires: /bin/sh
Requires: /usr/bin/rich
Requires: (a or (b and c) or (d with e)), (f if g else h)
Requires: low < 1, lowest <= 1:2, same = 3-4, high >= 5, highest > 6
Requires: tool = 1:2.0-1
Requires: twice
Requires: twice
Requires(pre): early
Requires(post): early2 >= 1
Requires: libc.so.6(GLIBC_2.9)(64bit), libc.so.6(GLIBC_2.34)(64bit), libc.so.6()(64bit)
Conflicts: enemy < 2
Obsoletes: grandfather < 1
Recommends: nice
Suggests: maybe
Supplements: (host and guest)
Enhances: nobody
%description
First line.

  Third < line & äöü.
%install
mkdir -p %{buildroot}/etc/rich.d %{buildroot}/usr/bin %{buildroot}/usr/lib %{buildroot}/usr/share/rich %{buildroot}/var/log
touch %{buildroot}/etc/rich.conf %{buildroot}/usr/bin/rich %{buildroot}/usr/share/rich/"a b & c" %{buildroot}/var/log/rich.log
ln -s ../bin/rich %{buildroot}/usr/lib/sendmail
%files
%dir /etc/rich.d
%config /etc/rich.conf
/usr/bin/rich
/usr/lib/sendmail
/usr/share/rich
%ghost /var/log/rich.log
`;
const plain = `Name: plain
Version: 1
Release: 1
Summary: Nothing special
License: MIT
Requires: rich
%description
%files
`;

let rpms: string[] = [];
let files: RepositoryFile[] = [];
beforeAll(async () => {
  for (const [name, spec] of Object.entries({ rich, plain })) {
    writeFileSync(join(directory, `${name}.spec`), spec);
    run("rpmbuild", "-ba", "--define", `_topdir ${directory}`, join(directory, `${name}.spec`));
  }
  rpms = ["RPMS", "SRPMS"].flatMap((kind) =>
    readdirSync(join(directory, kind), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".rpm"))
      .map((file) => join(directory, kind, file)),
  );
  mkdirSync(join(ours, "repodata"), { recursive: true });
  mkdirSync(theirs);
  for (const repository of [ours, theirs]) run("cp", "-p", ...rpms, repository);
  run("createrepo_c", "--quiet", "--no-database", theirs);
  files = await writeRpmMd(packages(), rpms.length, 1_795_184_305);
  for (const { path, bytes } of files) writeFileSync(join(ours, path), bytes);
});
afterAll(() => rmSync(directory, { recursive: true }));

function headerOf(rpm: string): RpmHeader {
  const reading = readRpmHeader(readFileSync(rpm));
  if (!("header" in reading)) throw new Error(`${rpm}: needs ${reading.needBytes} bytes`);
  return reading.header;
}

function* packages(of = rpms): Generator<RepositoryPackage> {
  for (const rpm of of) {
    const location = rpm.slice(dirname(rpm).length + 1);
    const { size, mtimeMs } = statSync(rpm);
    const sha256 = createHash("sha256").update(readFileSync(rpm)).digest("hex");
    yield { header: headerOf(rpm), location, sha256, fileBytes: size, fileTime: Math.floor(mtimeMs / 1000) };
  }
}

const rpmOf = (pattern: RegExp) => rpms.find((rpm) => pattern.test(rpm)) ?? "";
const query = (rpm: string, format: string) => run("rpm", "-qp", "--qf", format, rpm);
const signs = { LT: "<", LE: "<=", EQ: "=", GE: ">=", GT: ">" } as const;

describe("readRpmHeader", () => {
  it.each([/rich.*noarch/, /rich.*src/, /plain.*x86_64/])("reads the fields of %s as rpm does", (pattern) => {
    const rpm = rpmOf(pattern);
    const header = headerOf(rpm);
    const { name, epoch, version, release, summary, license, group, url, vendor, packager } = header;
    expect([name, epoch, version, release, summary, license, group, url, vendor, packager].join("|")).toBe(
      query(
        rpm,
        "%{NAME}|%{EPOCHNUM}|%{VERSION}|%{RELEASE}|%{SUMMARY}|%{LICENSE}|%{GROUP}|%{URL}|%{VENDOR}|%{PACKAGER}",
      ).replaceAll("(none)", ""),
    );
    expect([header.builtAt, header.buildHost, header.installedBytes, header.archiveBytes].join("|")).toBe(
      query(rpm, "%{BUILDTIME}|%{BUILDHOST}|%{SIZE}|%{ARCHIVESIZE}"),
    );
    expect(header.description).toBe(query(rpm, "%{DESCRIPTION}"));
    expect(header.fileBytes).toBe(statSync(rpm).size);
  });

  it("distinguishes source packages from binary ones", () => {
    expect(headerOf(rpmOf(/plain.*src/))).toMatchObject({ isSource: true, arch: "src", sourceRpm: "" });
    expect(headerOf(rpmOf(/plain.*x86_64/))).toMatchObject({ isSource: false, sourceRpm: "plain-1-1.src.rpm" });
  });

  it.each([
    "provides",
    "requires",
    "conflicts",
    "obsoletes",
    "recommends",
    "suggests",
    "supplements",
    "enhances",
  ] as const)("reads %s as rpm does", (kind) => {
    const rpm = rpmOf(/rich.*noarch/);
    const read = headerOf(rpm).relations[kind].map(
      ({ name, comparison, evr }) => name + (comparison ? ` ${signs[comparison]} ${evr}` : ""),
    );
    expect(read).toEqual(run("rpm", "-qp", `--${kind}`, rpm).trim().split("\n"));
  });

  it("reads the list of files as rpm does", () => {
    const rpm = rpmOf(/rich.*noarch/);
    expect(headerOf(rpm).files.map(({ path }) => path)).toEqual(run("rpm", "-qpl", rpm).trim().split("\n"));
  });
});

/**
 * The facts in a list by package, without the order of sets and without values that depend on the tool: checksums of
 * lists, time.
 */
function facts(compressed: Uint8Array, root: string): Record<string, unknown>[] {
  const parser = new XMLParser({
    ignoreAttributes: false,
    parseTagValue: false,
    trimValues: false,
    alwaysCreateTextNode: true,
    htmlEntities: true,
    isArray: (name) => ["package", "rpm:entry", "file"].includes(name),
  });
  const document = parser.parse(gunzipSync(compressed))[root] as { package: Record<string, unknown>[] };
  return document.package.map(withSortedSets).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** Entries of a relation and files are sets. Text between elements is layout. */
function withSortedSets(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]): [string, unknown] => {
        if (Array.isArray(inner)) return [key, inner.map((one) => JSON.stringify(sortedKeys(one))).toSorted()];
        return [key, typeof inner === "object" && inner !== null ? withSortedSets({ ...inner }) : inner];
      })
      .filter(([key, inner]) => key !== "#text" || String(inner).trim() !== "")
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}
const sortedKeys = (one: object) => Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)));

const lists = [
  ["primary", "metadata"],
  ["filelists", "filelists"],
] as const;
const factsOf = (written: readonly RepositoryFile[], kind: string, root: string) =>
  facts(written.find(({ path }) => path.includes(`-${kind}.`))?.bytes ?? new Uint8Array(0), root);

function factsOfRepository(repository: string, kind: string, root: string) {
  const { parts } = readRepomd(readFileSync(join(repository, "repodata/repomd.xml")));
  return facts(readFileSync(join(repository, pickPart(parts, kind)?.path ?? "")), root);
}

describe("writeRpmMd", () => {
  it.each(lists)("writes in %s.xml what createrepo_c writes", (kind, root) => {
    expect(factsOf(files, kind, root)).toEqual(factsOfRepository(theirs, kind, root));
  });

  it("writes what createrepo_c writes for the whole sample distribution", async () => {
    const { path } = (await findSampleDistribution()) ?? (await buildSampleDistribution());
    const main = join(path, "main");
    const all = readdirSync(main).filter((file) => file.endsWith(".rpm"));
    const written = await writeRpmMd(packages(all.map((file) => join(main, file))), all.length, 0);
    const indexed = join(directory, "indexed");
    mkdirSync(indexed);
    run("createrepo_c", "--quiet", "--no-database", "--outputdir", indexed, main);
    for (const [kind, root] of lists) {
      const output = factsOf(written, kind, root);
      expect(output).toHaveLength(all.length);
      expect(output).toEqual(factsOfRepository(indexed, kind, root));
    }
  }, 600_000);

  it("announces its lists with correct sizes and checksums", () => {
    const { parts } = readRepomd(readFileSync(join(ours, "repodata/repomd.xml")));
    expect(parts.map(({ type }) => type)).toEqual(["primary", "filelists", "other"]);
    for (const part of parts) {
      const bytes = readFileSync(join(ours, part.path));
      const open = gunzipSync(bytes);
      expect(part).toMatchObject({ sizeBytes: bytes.byteLength, openBytes: open.byteLength });
      expect(part.checksum.hex).toBe(createHash("sha256").update(bytes).digest("hex"));
      expect(part.openChecksum?.hex).toBe(createHash("sha256").update(open).digest("hex"));
    }
  });

  it("writes the same bytes for the same packages", async () => {
    expect(await writeRpmMd(packages(), rpms.length, 1_795_184_305)).toEqual(files);
  });

  it("refuses a wrong count", async () => {
    await expect(writeRpmMd(packages(), 1, 0)).rejects.toThrow("instead of 1");
  });

  it("is accepted by zypper: refresh, search and a dry-run installation", () => {
    const root = join(directory, "root");
    const zypper = (...args: string[]) =>
      run("zypper", "--root", root, "--non-interactive", "--no-gpg-checks", ...args);
    zypper("addrepo", "--no-gpgcheck", `dir://${ours}`, "ours");
    zypper("refresh");
    expect(zypper("search", "--details", "plain")).toMatch(/plain .*\| 1-1 .*\| x86_64 .*\| ours/);
    expect(zypper("search", "--provides", "/usr/bin/rich")).toContain("rich");
    expect(zypperAnswer(() => zypper("install", "--dry-run", "rich"))).toContain("nothing provides");
  });

  it("gives libsolv the same packages as createrepo_c", () => {
    expect(solvables(ours)).toEqual(solvables(theirs));
    expect(solvables(ours)).toContain("  a | (b & c) | (d + e)");
  });
});

/** libsolv's facts about a repository's packages, line by line. Their order depends on the tool. */
function solvables(repository: string): string[] {
  const solv = join(directory, "read.solv");
  execFileSync("sh", ["-c", 'repo2solv "$1" > "$2"', "sh", repository, solv]);
  return run("dumpsolv", solv)
    .split("\n")
    .slice(run("dumpsolv", solv).split("\n").indexOf("solvable 1 (2):"))
    .filter((line) => !/^solvable \d/.test(line))
    .toSorted();
}

/** For an unsolvable request, zypper returns an exit code and prints the reasons on stdout. */
function zypperAnswer(work: () => string): string {
  try {
    return work();
  } catch (error) {
    return typeof error === "object" && error !== null && "stdout" in error ? String(error.stdout) : String(error);
  }
}
