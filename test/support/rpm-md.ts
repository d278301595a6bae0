import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
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
