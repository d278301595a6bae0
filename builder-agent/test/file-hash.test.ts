import { createHash, randomBytes } from "node:crypto";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { sha256OfFile } from "../src/file-hash.ts";
import { temporaryDir } from "./support/agent-place.ts";

it("computes the digest of a file that is longer than one read, holes included", async () => {
  await using dir = await temporaryDir();
  const file = join(dir.path, "disk.raw");
  const data = randomBytes(2 ** 20 + 17);
  writeFileSync(file, data);
  truncateSync(file, 3 * 2 ** 20);

  const whole = Buffer.concat([data, Buffer.alloc(3 * 2 ** 20 - data.length)]);
  expect(await sha256OfFile(file)).toBe(createHash("sha256").update(whole).digest("hex"));
});

it("rejects for a missing file with the code of the system", async () => {
  await using dir = await temporaryDir();
  await expect(sha256OfFile(join(dir.path, "missing"))).rejects.toMatchObject({ code: "ENOENT" });
});

it("stops with the reason of its signal", async () => {
  await using dir = await temporaryDir();
  const file = join(dir.path, "disk.raw");
  writeFileSync(file, "");
  truncateSync(file, 2 ** 40);
  const stopping = new AbortController();
  const hashing = sha256OfFile(file, stopping.signal);
  stopping.abort(new Error("the build was cancelled"));
  await expect(hashing).rejects.toThrow("the build was cancelled");
});
