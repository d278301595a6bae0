import { importsOf } from "../../scripts/launch/debian.ts";
import { catalogueOf, type DebianCatalogue } from "../debian/mirror.ts";
import type { Scenario } from "./scenario.ts";

const maxMs = 600_000;

const releases = (): Promise<DebianCatalogue[]> =>
  Promise.all((["bookworm", "trixie"] as const).map((codename) => catalogueOf(codename, AbortSignal.timeout(60_000))));

/** The same load as in the first minutes of every new `npm start`. */
export const debian: Scenario = {
  name: "import",
  what: "the import of Debian 12 and 13 with updates and security",
  options: async () => {
    const hosts = new Set((await releases()).flatMap(({ hosts: { names } }) => names));
    return [...hosts].flatMap((host) => ["--allow-host", host]);
  },
  prepare: async ({ admin }) => {
    const catalogues = await releases();
    return async () => {
      const begunAt = performance.now();
      for (const { name, content } of catalogues) {
        await admin.loadCatalogue(name, content);
        const failed = await importsOf(admin, name, AbortSignal.timeout(maxMs));
        if (failed.length > 0) throw new Error(`${name}: ${JSON.stringify(failed)}`);
      }
      return `imported in ${((performance.now() - begunAt) / 1000).toFixed(0)} s`;
    };
  },
};
