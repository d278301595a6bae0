import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { projectRoot } from "./project.ts";

export type Statement = { sql: string; values: readonly (string | number)[] };
export type Control = {
  /** Runs statements atomically in the service's database, and returns the rows of each. */
  batch(statements: readonly Statement[]): Promise<Record<string, unknown>[][]>;
  /** Calls the service's cron handler. */
  tick(): Promise<void>;
  close(): void;
};

const Rows = z.array(z.array(z.record(z.string(), z.unknown())));
/** The name of the socket that workerd.sh creates. */
const socketName = "control.sock";

/** Creates the folder of the socket. Only its owner may enter it, because a connection needs no other credential. */
export function makeControlFolder(stateDirectory: string): string {
  const folder = join(stateDirectory, "run");
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o700);
  return folder;
}

/** The Worker that the launcher calls. It must be the first one, because miniflare's own socket leads to that. */
export const controlWorker = (service: { name: string; d1Databases?: unknown }) => ({
  name: "kiln-control",
  compatibilityDate: "2026-10-20",
  compatibilityFlags: ["service_binding_extra_handlers"], // SERVICE.scheduled
  rootPath: projectRoot,
  modulesRoot: join(projectRoot, "scripts/launch"),
  modules: [{ type: "ESModule", path: join(projectRoot, "scripts/launch/control-worker.mjs") }],
  d1Databases: service.d1Databases,
  serviceBindings: { SERVICE: service.name },
});

export function openControl(folder: string): Control {
  // The path of a Unix socket may have at most 107 bytes, and the path of a state directory may be longer. This one is
  // always short.
  const directory = openSync(folder, "r");
  const socketPath = `/proc/self/fd/${directory}/${socketName}`;
  return {
    batch: async (statements) => Rows.parse(JSON.parse(await post(socketPath, "/batch", JSON.stringify(statements)))),
    tick: async () => void (await post(socketPath, "/scheduled", "")),
    close: () => closeSync(directory),
  };
}

function post(socketPath: string, path: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path, method: "POST", agent: false }, (response) => {
      text(response).then(
        (answer) => (response.statusCode === 200 ? resolve(answer) : reject(new Error(`${path}: ${answer}`))),
        reject,
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
