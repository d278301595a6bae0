import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tapControlTar } from "#repodata/deb-archive";
import { readDebPackage } from "#repodata/deb-package";
import type { FrozenPackage, FrozenRepository } from "../../../builder-agent/src/contract.ts";

/** A package that an account has uploaded, as builds are frozen with it, and the folder that stands for the Worker's call. */
export interface OwnDeb extends Disposable {
  package: FrozenPackage;
  repository: FrozenRepository;
  folder: string;
}

const control = `Package: kiln-greeter
Version: 1:2.0~rc1-3
Architecture: all
Maintainer: Kiln's tests <tests@example.org>
Depends: adduser
Description: says hello
`;

const postinst = `#!/bin/sh
set -e
adduser --system --group --no-create-home greeter
cat /usr/share/kiln-greeter/greeting > /var/lib/greeted
`;

/** dpkg-deb makes it, and the service's own reader reads it. */
export async function ownDeb(): Promise<OwnDeb> {
  const dir = mkdtempSync(join(tmpdir(), "kiln-own-deb-"));
  const [root, location] = [join(dir, "root"), "packages/00000000-0000-4000-8000-000000000000/0/kiln-greeter.deb"];
  mkdirSync(join(root, "DEBIAN"), { recursive: true });
  mkdirSync(join(root, "usr/share/kiln-greeter"), { recursive: true });
  writeFileSync(join(root, "DEBIAN/control"), control);
  writeFileSync(join(root, "DEBIAN/postinst"), postinst);
  writeFileSync(join(root, "usr/share/kiln-greeter/greeting"), "hello from our own package\n");
  for (const path of [root, join(root, "DEBIAN")]) chmodSync(path, 0o755);
  chmodSync(join(root, "DEBIAN/postinst"), 0o755);
  const made = join(dir, "made.deb");
  execFileSync("dpkg-deb", ["--root-owner-group", "-Zgzip", "--build", root, made], { stdio: "pipe" });
  const bytes = readFileSync(made);
  mkdirSync(join(dir, location, ".."), { recursive: true });
  copyFileSync(made, join(dir, location));
  const { name, epoch, version, release, arch, control: text } = await readControl(bytes);
  const checksum = { type: "sha256" as const, value: createHash("sha256").update(bytes).digest("hex") };
  return {
    package: {
      name,
      epoch,
      version,
      release,
      arch,
      repository: "own",
      location,
      checksum,
      size: bytes.length,
      control: text,
    },
    repository: { alias: "own", id: 2, name: "Our own", url: "service:/user/2", trust: null },
    folder: dir,
    [Symbol.dispose]: () => rmSync(dir, { recursive: true }),
  };
}

async function readControl(bytes: Uint8Array<ArrayBuffer>) {
  const { stream, found } = tapControlTar(new Blob([bytes]).stream());
  for await (const chunk of stream) void chunk;
  return await readDebPackage(await found, (kind) => {
    throw new Error(`it is compressed by ${kind}`);
  });
}
