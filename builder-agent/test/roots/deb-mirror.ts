/** A mirror with small packages, signed, over HTTP: enough for a builder root. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { FrozenKey } from "../../src/contract.ts";
import type { RootDefinition } from "../../src/roots/definition.ts";
import { openSigning } from "../packages/signing.ts";

interface SmallPackage {
  version?: string;
  depends?: string;
  essential?: boolean;
  /** Texts by path; `@FILE` copies a file of this host. */
  files?: Record<string, string>;
}

const needed = ["kiwi", "zypper", "rpm", "createrepo-c", "e2fsprogs", "kmod", "iproute2"];
const modules = "lib/modules/6.1-cloud";

/** The packages that every root needs. The shell is busybox, so the tree has its own shell. */
const usualPackages: Record<string, SmallPackage> = {
  ...Object.fromEntries(needed.map((name) => [name, { files: { [`usr/share/${name}`]: name } }])),
  kiwi: { version: "9.24.56-1", depends: "editor (>= 2) | screen, libc6", files: { "usr/bin/kiwi-ng": "#!/bin/sh\n" } },
  screen: {},
  libc6: { version: "2.36" },
  "base-files": { essential: true, files: { "bin/true": "#!/bin/sh\n", "usr/share/doc/base-files/README": "long" } },
  "base-passwd": {
    essential: true,
    files: {
      "usr/share/base-passwd/passwd.master": "root:x:0:0::/root:/bin/sh\n",
      "usr/share/base-passwd/group.master": "root:x:0:\n",
    },
  },
  "busybox-static": { files: { "bin/busybox": "@/bin/busybox", "bin/sh": "@/bin/busybox" } },
  "linux-image-cloud-amd64": { depends: "linux-image-6.1-cloud-amd64 (= 1)" },
  "linux-image-6.1-cloud-amd64": {
    files: {
      "boot/vmlinuz-6.1-cloud": "the kernel",
      ...Object.fromEntries(["builtin", "builtin.modinfo", "order"].map((name) => [`${modules}/modules.${name}`, ""])),
    },
  },
};

export async function openDebMirror(packages = usualPackages) {
  const signing = openSigning();
  const [key, stranger] = [signing.makeKey("archive"), signing.makeKey("stranger")];
  const dir = mkdtempSync(join(tmpdir(), "kiln-mirror-"));
  const paragraphs = Object.entries(packages).map(([name, one]) => makeDeb(dir, name, one));
  const list = execFileSync("xz", ["--stdout"], { input: paragraphs.join("\n") });
  const path = "main/binary-amd64/Packages.xz";
  mkdirSync(join(dir, "dists/small", dirname(path)), { recursive: true });
  writeFileSync(join(dir, "dists/small", path), list);
  const sum = createHash("sha256").update(list).digest("hex");
  const sign = ({ validUntil, by = key }: { validUntil?: Date; by?: FrozenKey } = {}) => {
    const until = validUntil === undefined ? "" : `Valid-Until: ${validUntil.toUTCString()}\n`;
    const release = `Suite: small\nDate: Sun, 01 Nov 2026 10:00:00 UTC\n${until}SHA256:\n ${sum} ${list.length} ${path}\n`;
    writeFileSync(join(dir, "dists/small/InRelease"), signing.clearSign(release, by));
  };
  sign();
  const keyring = join(dir, "keyring.asc");
  writeFileSync(keyring, key.armour);
  const server = createServer((request, response) => {
    try {
      response.end(readFileSync(join(dir, decodeURI(request.url ?? ""))));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const definition: RootDefinition = {
    name: "small",
    title: "A small root",
    keyring,
    suites: [{ url: `http://127.0.0.1:${port}`, suite: "small", components: ["main"] }],
    packages: [],
  };
  return {
    dir,
    definition,
    stranger,
    /** Rewrites its index. */
    sign,
    close() {
      server.close();
      server.closeAllConnections();
      signing.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
export type DebMirror = Awaited<ReturnType<typeof openDebMirror>>;

function makeDeb(dir: string, name: string, { version = "1", depends, essential, files = {} }: SmallPackage): string {
  const tree = join(dir, "trees", name);
  mkdirSync(join(tree, "DEBIAN"), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    if (text.startsWith("@")) cpSync(text.slice(1), join(tree, path), { dereference: true });
    else writeFileSync(join(tree, path), text, { mode: text.startsWith("#!") ? 0o755 : 0o644 });
  }
  const lines = [
    `Package: ${name}`,
    `Version: ${version}`,
    "Architecture: amd64",
    ...(essential ? ["Essential: yes"] : []),
    ...(depends === undefined ? [] : [`Depends: ${depends}`]),
    "Maintainer: a <a@example.invalid>",
    "Description: a",
  ];
  writeFileSync(join(tree, "DEBIAN/control"), `${lines.join("\n")}\n`);
  mkdirSync(join(dir, "pool"), { recursive: true });
  const file = `pool/${name}_${version}_amd64.deb`;
  execFileSync("dpkg-deb", ["-Znone", "--root-owner-group", "--build", tree, join(dir, file)], { stdio: "ignore" });
  const bytes = readFileSync(join(dir, file));
  const sum = createHash("sha256").update(bytes).digest("hex");
  return `${lines.join("\n")}\nFilename: ${file}\nSize: ${bytes.length}\nSHA256: ${sum}\n`;
}

/** Changes one byte of a package that is in the pool. */
export function spoilPackage(dir: string, name: string): void {
  const file = readdirSync(join(dir, "pool")).find((each) => each.startsWith(`${name}_`)) ?? "";
  const bytes = readFileSync(join(dir, "pool", file));
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(join(dir, "pool", file), bytes);
}
