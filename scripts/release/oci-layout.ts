import { createHash, type Hash } from "node:crypto";
import { createReadStream, createWriteStream, mkdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { sha256Of } from "./digest.ts";

/** The metadata of a container image. */
export interface ImageConfig {
  /** Go's name of the architecture: `amd64`. */
  architecture: string;
  version: string;
  created: Date;
  entrypoint: readonly string[];
  command: readonly string[];
  volumes: readonly string[];
  labels: Readonly<Record<string, string>>;
}

interface Blob {
  mediaType: string;
  digest: string;
  size: number;
}

const media = (what: string) => `application/vnd.oci.image.${what}`;

/** Writes a container image with one layer, an uncompressed tar, as an OCI image layout (image-spec, version 1). */
export async function writeLayout(folder: string, layerTar: string, given: ImageConfig): Promise<void> {
  mkdirSync(join(folder, "blobs/sha256"), { recursive: true });
  const { layer, diffId } = await compress(folder, layerTar);
  const config = put(folder, media("config.v1+json"), configOf(given, diffId));
  const manifest = put(folder, media("manifest.v1+json"), {
    schemaVersion: 2,
    mediaType: media("manifest.v1+json"),
    config,
    layers: [layer],
  });
  const { architecture, version } = given;
  const annotations = { "org.opencontainers.image.ref.name": version };
  write(join(folder, "index.json"), {
    schemaVersion: 2,
    mediaType: media("index.v1+json"),
    manifests: [{ ...manifest, platform: { architecture, os: "linux" }, annotations }],
  });
  write(join(folder, "oci-layout"), { imageLayoutVersion: "1.0.0" });
}

const configOf = (given: ImageConfig, diffId: string) => ({
  created: given.created.toISOString(),
  architecture: given.architecture,
  os: "linux",
  config: {
    Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
    Entrypoint: given.entrypoint,
    Cmd: given.command,
    Volumes: Object.fromEntries(given.volumes.map((one) => [one, {}])),
    Labels: given.labels,
  },
  rootfs: { type: "layers", diff_ids: [diffId] },
  history: [{ created: given.created.toISOString(), created_by: "npm run package:image" }],
});

/** Compresses the layer into the layout. Its id is the digest of the uncompressed tar. */
async function compress(folder: string, layerTar: string): Promise<{ layer: Blob; diffId: string }> {
  const [plain, packed] = [createHash("sha256"), createHash("sha256")];
  const arriving = join(folder, "layer.part");
  await pipeline(
    createReadStream(layerTar),
    through(plain),
    createGzip(),
    through(packed),
    createWriteStream(arriving),
  );
  const hex = packed.digest("hex");
  renameSync(arriving, join(folder, "blobs/sha256", hex));
  const { size } = statSync(join(folder, "blobs/sha256", hex));
  const layer = { mediaType: media("layer.v1.tar+gzip"), digest: `sha256:${hex}`, size };
  return { layer, diffId: `sha256:${plain.digest("hex")}` };
}

const through = (hash: Hash): Transform =>
  new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      hash.update(chunk);
      done(null, chunk);
    },
  });

function put(folder: string, mediaType: string, document: object): Blob {
  const text = JSON.stringify(document);
  const hex = sha256Of(text);
  writeFileSync(join(folder, "blobs/sha256", hex), text);
  return { mediaType, digest: `sha256:${hex}`, size: Buffer.byteLength(text) };
}

const write = (file: string, document: object): void => writeFileSync(file, JSON.stringify(document));
