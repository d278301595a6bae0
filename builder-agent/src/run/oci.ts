import { createHash } from "node:crypto";
import { mkdir, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { architectures, containerTag } from "../contract.ts";
import { sha256OfFile } from "../file-hash.ts";
import type { Machine } from "./machine.ts";

interface ContainerRoot {
  /** The path of the root, a tar archive. It is moved. */
  image: string;
  machine: Pick<Machine, "arch">;
  /** Seconds since 1970. */
  sourceDate?: number | undefined;
}

/**
 * Writes a container image whose one layer is the root: an OCI layout, as the OCI Image Format Specification 1.0
 * describes it. `manifest.json` is for releases of `docker load` before 25, which do not read the layout. The layer is
 * not compressed, because the whole archive will be. Returns the names in the archive.
 */
export async function writeOciLayout(
  { image, machine, sourceDate }: ContainerRoot,
  { dir, name }: { dir: string; name: string },
): Promise<string[]> {
  await mkdir(join(dir, blobs), { recursive: true });
  const layer = { mediaType: `${oci}.layer.v1.tar`, digest: await sha256OfFile(image), size: (await stat(image)).size };
  await rename(image, join(dir, blobs, layer.digest));
  const created = sourceDate === undefined ? {} : { created: new Date(sourceDate * 1000).toISOString() };
  const config = await writeBlob(dir, `${oci}.config.v1+json`, {
    ...created,
    architecture: architectures[machine.arch].go,
    os: "linux",
    config: { Env: [`PATH=${searchPath}`], Cmd: ["/bin/sh"] },
    rootfs: { type: "layers", diff_ids: [`sha256:${layer.digest}`] },
    history: [{ ...created, created_by: name }],
  });
  const manifestType = `${oci}.manifest.v1+json`;
  const common = { schemaVersion: 2, mediaType: manifestType };
  const manifest = await writeBlob(dir, manifestType, {
    ...common,
    config: descriptorOf(config),
    layers: [descriptorOf(layer)],
  });
  const files = layoutFiles({ config, layer, manifest, tag: containerTag(name) });
  for (const [file, content] of Object.entries(files)) await writeFile(join(dir, file), JSON.stringify(content));
  return ["blobs", ...Object.keys(files)];
}

const oci = "application/vnd.oci.image";
const blobs = "blobs/sha256";
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

interface Blob {
  mediaType: string;
  /** SHA-256, and the name of its file. */
  digest: string;
  size: number;
}

const descriptorOf = ({ mediaType, digest, size }: Blob) => ({ mediaType, digest: `sha256:${digest}`, size });

async function writeBlob(dir: string, mediaType: string, content: unknown): Promise<Blob> {
  const bytes = Buffer.from(JSON.stringify(content));
  const digest = createHash("sha256").update(bytes).digest("hex");
  await writeFile(join(dir, blobs, digest), bytes);
  return { mediaType, digest, size: bytes.length };
}

/** containerd and Podman name the image by the annotations, `docker load` by its own manifest. */
const layoutFiles = ({
  config,
  layer,
  manifest,
  tag,
}: Record<"config" | "layer" | "manifest", Blob> & { tag: string }) => ({
  "oci-layout": { imageLayoutVersion: "1.0.0" },
  "index.json": {
    schemaVersion: 2,
    mediaType: `${oci}.index.v1+json`,
    manifests: [
      {
        ...descriptorOf(manifest),
        annotations: {
          "io.containerd.image.name": `docker.io/library/${tag}`,
          "org.opencontainers.image.ref.name": tag.split(":")[1],
        },
      },
    ],
  },
  "manifest.json": [{ Config: `${blobs}/${config.digest}`, RepoTags: [tag], Layers: [`${blobs}/${layer.digest}`] }],
});
