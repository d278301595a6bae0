import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "miniflare";
import { z } from "zod";

// miniflare's direct sockets accept two headers that clients must not use. One sets request.cf, which includes the
// client's address. The other opens workerd's own protocol, which delivers queue messages and alarms. A plugin's socket
// accepts neither. Behind it is front-worker.mjs, because the router would fail with 500 for a request without a valid
// URL.

const name = "kiln-own-socket";
const frontName = "kiln-front";
const Address = z.object({ address: z.string() });
const Bound = z.object({ type: z.literal(`unsafe:${name}`), dev: z.object({ options: Address }) });

/** Makes a Worker listen on an address. `request.cf.clientIp` is the client's address: `127.0.0.1:40000`. */
export const ownSocket = (address: string) => ({
  name: "OWN_SOCKET",
  type: name,
  plugin: { package: import.meta.filename, name },
  options: { address } satisfies z.infer<typeof Address>,
});

/**
 * miniflare looks for this export.
 * @public
 */
export const plugins: Record<string, Plugin> = {
  [name]: {
    getBindings: () => {},
    getNodeBindings: () => ({}),
    getServices: ({ options: { config } }) => {
      const bound = Object.values(config.env ?? {}).flatMap((binding) => Bound.safeParse(binding).data ?? []);
      if (bound.length === 0) return [];
      const service = config.assets ? `assets:router:${config.name}` : `core:user:${config.name}`;
      const sockets = bound.map(({ dev }) => ({
        name: `${name}-${config.name}`,
        address: dev.options.address,
        service: { name: frontName },
        http: {},
      }));
      return { services: [frontWorker(service)], extensions: [], sockets };
    },
  },
};

const frontWorker = (service: string) => ({
  name: frontName,
  worker: {
    compatibilityDate: "2026-10-20",
    modules: [
      { name: "front-worker.mjs", esModule: readFileSync(join(import.meta.dirname, "front-worker.mjs"), "utf8") },
    ],
    bindings: [{ name: "SERVICE", service: { name: service } }],
  },
});
