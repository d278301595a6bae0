import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { tapControlTar } from "#lib/repodata/deb-archive";
import { readDebPackage } from "#lib/repodata/deb-package";
import { controlOf } from "../support/deb-package.ts";

// Debian's own program makes the packages that Kiln's code reads.

const folder = mkdtempSync(join(tmpdir(), "kiln-deb-"));
afterAll(() => rmSync(folder, { recursive: true }));

const collected = async (stream: ReadableStream<Uint8Array>) => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
};

/** Replaces the solver's decoder. */
const xz = (_kind: string, compressed: ReadableStream<Uint8Array>) =>
  new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(execFileSync("xz", ["-d"], { input: await collected(compressed) }));
      controller.close();
    },
  });

it.each(["xz", "zstd", "gzip", "none"])("reads a package that dpkg-deb compressed by %s", async (compression) => {
  const root = join(folder, compression);
  const control = controlOf("tool 2:1.0~rc1-3 amd64; Depends: libc6 (>= 2.36); Section: utils");
  mkdirSync(join(root, "DEBIAN"), { recursive: true });
  writeFileSync(join(root, "DEBIAN/control"), control);
  writeFileSync(join(root, "DEBIAN/postinst"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(root, "payload"), "x".repeat(100_001));
  const file = join(folder, `${compression}.deb`);
  execFileSync("dpkg-deb", ["--root-owner-group", `-Z${compression}`, "--build", root, file], { stdio: "pipe" });

  const { stream, found } = tapControlTar(new Response(readFileSync(file)).body ?? new ReadableStream());
  await collected(stream);
  expect(await readDebPackage(await found, xz)).toEqual({
    name: "tool",
    epoch: 2,
    version: "1.0~rc1",
    release: "3",
    arch: "amd64",
    control,
  });
});
