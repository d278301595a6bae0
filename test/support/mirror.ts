/**
 * Repositories as files. They are published in the service's own R2, or served by a mirror that exists only in the
 * test.
 */
import { env } from "cloudflare:workers";
import { repositoryFileKey } from "#storage/blobs";
import type { RepositoryFiles } from "./rpm-md.ts";

export { rpmMd, type RepositoryFiles } from "./rpm-md.ts";

/** Puts the files at `service:/repositories/<path>` like the launcher, with the index last. */
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
