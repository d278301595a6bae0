/** Repositories as files: published in the service's own R2, or served by a mirror that exists only in the test. */
import { env } from "cloudflare:workers";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { repositoryFileKey } from "#storage/blobs";
import { primaryXmlOf } from "../solver/repo-dsl.ts";

export type RepositoryFiles = Record<string, string | Uint8Array>;

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

/** An rpm-md repository of packages in the language of repo-dsl; `changes` replaces values in repomd.xml, or the file. */
export function rpmMd(
  packages: string[],
  changes: {
    checksum?: string;
    body?: Uint8Array;
    cpeId?: string;
    primary?: string;
    suffix?: string;
    /** The whole document. Default: none. */
    updateinfo?: string | Uint8Array;
  } = {},
): RepositoryFiles {
  const { primary = primaryXmlOf(packages), suffix = "xml.gz" } = changes;
  const body = changes.body ?? new Uint8Array(gzipSync(primary));
  const path = `repodata/primary.${suffix}`;
  const tags = changes.cpeId ? `<tags><distro cpeid="${changes.cpeId}">A distribution</distro></tags>` : "";
  const updateinfo = changes.updateinfo ? dataOf("updateinfo", "repodata/updateinfo.xml", changes.updateinfo) : "";
  return {
    [path]: body,
    ...(changes.updateinfo && { "repodata/updateinfo.xml": changes.updateinfo }),
    "repodata/repomd.xml": `<?xml version="1.0"?><repomd xmlns="http://linux.duke.edu/metadata/repo">${tags}
      <data type="primary"><checksum type="sha256">${changes.checksum ?? sha256(body)}</checksum>
      <location href="${path}"/><size>${body.byteLength}</size></data>${updateinfo}</repomd>`,
  };
}

const dataOf = (type: string, path: string, body: string | Uint8Array): string =>
  `<data type="${type}"><checksum type="sha256">${sha256(body)}</checksum><location href="${path}"/></data>`;

/** Puts the files at `service:/repositories/<path>` as the launcher does: the index last. */
export async function publish(path: string, files: RepositoryFiles): Promise<void> {
  for (const [name, bytes] of Object.entries(files)) await env.BLOBS.put(repositoryFileKey(`${path}/${name}`), bytes);
}

/** A fetch that serves these repositories by their URLs, and records the requests. */
export function mirrorOf(repositories: Record<string, RepositoryFiles>) {
  const asked: string[] = [];
  const fetchOutside = async (url: string): Promise<Response> => {
    asked.push(url);
    for (const [base, files] of Object.entries(repositories)) {
      const file = url.startsWith(`${base}/`) ? files[url.slice(base.length + 1)] : undefined;
      if (file !== undefined) return new Response(file);
    }
    return new Response("There is no such file.", { status: 404 });
  };
  return { asked, fetchOutside };
}
