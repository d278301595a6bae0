import type { FrozenInput, FrozenPackage } from "../../src/contract.ts";
import { fetchPackages, type PackageFetch } from "../../src/packages/package-files.ts";

/** Fetches packages of one repository into a folder. */
export function fetching(
  packages: FrozenPackage[],
  url: string,
  more: Partial<PackageFetch> & Pick<PackageFetch, "dir">,
): Promise<unknown> {
  const repositories: FrozenInput["repositories"] = [{ alias: "main", id: 7, name: "Main", url }];
  return fetchPackages({
    input: { packages, repositories },
    reach: reaching(),
    signal: new AbortController().signal,
    onProgress: () => {},
    ...more,
  });
}

/** Access to a service that does not answer, and to these private hosts. */
export const reaching = (...allowHosts: string[]) => ({ url: "http://127.0.0.1:1", credentials: {}, allowHosts });
