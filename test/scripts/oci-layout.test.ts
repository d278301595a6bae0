import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { writeLayout } from "../../scripts/release/oci-layout.ts";

const folder = mkdtempSync(join(tmpdir(), "kiln-oci-"));
const layer = join(folder, "layer.tar");
const given = {
  architecture: "amd64",
  version: "0.1.0",
  created: new Date("2026-11-25T00:00:00Z"),
  entrypoint: ["kiln-agent"],
  command: ["run"],
  volumes: ["/var/lib/kiln-agent"],
  labels: { "org.opencontainers.image.title": "kiln-agent" },
};

beforeAll(() => {
  writeFileSync(join(folder, "hello"), "hello\n");
  execFileSync("tar", ["-C", folder, "-cf", layer, "hello"]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const Blob = z.object({ mediaType: z.string(), digest: z.string(), size: z.number() });
const Index = z.object({ manifests: z.array(Blob.extend({ platform: z.object({ architecture: z.string() }) })) });
const Manifest = z.object({ schemaVersion: z.literal(2), config: Blob, layers: z.array(Blob) });
const Config = z.object({
  os: z.literal("linux"),
  config: z.object({ Entrypoint: z.array(z.string()), Cmd: z.array(z.string()) }),
  rootfs: z.object({ diff_ids: z.array(z.string()) }),
});

const digestOf = (content: Uint8Array) => `sha256:${createHash("sha256").update(content).digest("hex")}`;
const json = (content: Uint8Array): unknown => JSON.parse(Buffer.from(content).toString());

/** The content of a blob, whose size and digest must match its descriptor. */
function blobOf(layout: string, { digest, size }: z.infer<typeof Blob>): Buffer {
  const content = readFileSync(join(layout, "blobs", digest.replace(":", "/")));
  expect([digestOf(content), content.length]).toEqual([digest, size]);
  return content;
}

/** The paths of a layout, with the digests of the files. */
const all = (layout: string) =>
  readdirSync(layout, { recursive: true, encoding: "utf8" })
    .toSorted()
    .map((name) => [name, statSync(join(layout, name)).isFile() ? digestOf(readFileSync(join(layout, name))) : ""]);

it("leads from the index to the files, by digests", async () => {
  const layout = join(folder, "one");
  await writeLayout(layout, layer, given);
  expect(json(readFileSync(join(layout, "oci-layout")))).toEqual({ imageLayoutVersion: "1.0.0" });
  const [listed] = Index.parse(json(readFileSync(join(layout, "index.json")))).manifests;
  if (!listed) throw new Error("the index is empty");
  const manifest = Manifest.parse(json(blobOf(layout, listed)));
  const config = Config.parse(json(blobOf(layout, manifest.config)));
  expect(config.config).toEqual({ Entrypoint: ["kiln-agent"], Cmd: ["run"] });
  const tars = manifest.layers.map((one) => gunzipSync(blobOf(layout, one)));
  expect(tars.map(digestOf)).toEqual(config.rootfs.diff_ids);
  expect(tars).toEqual([readFileSync(layer)]);
  // The layout contains nothing else.
  expect(readdirSync(join(layout, "blobs/sha256"))).toHaveLength(3);
  expect(readdirSync(layout).toSorted()).toEqual(["blobs", "index.json", "oci-layout"]);
});

it("is the same each time", async () => {
  const [first, second] = [join(folder, "first"), join(folder, "second")];
  for (const layout of [first, second]) await writeLayout(layout, layer, given);
  expect(all(first)).toEqual(all(second));
});
