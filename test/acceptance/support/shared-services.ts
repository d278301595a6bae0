import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { serveFiles } from "./local-build.ts";
import { startService, type Ready, type Service } from "./service.ts";

// vitest runs this once for all files of the project: a service needs seconds of processor time, an account almost
// none.

export type ServiceKind = "with-agent" | "without-agent";

/** The facts about a service for all test files. */
export interface SharedService {
  stateDir: string;
  ready: Ready;
  /** A web server from which repositories can be imported; it serves the files in its folder. */
  elsewhere: { folder: string; url: string };
}

declare module "vitest" {
  interface ProvidedContext {
    /** The URL from which each kind of service is requested. */
    sharedServices: string;
  }
}

/** Enough for all files at the same time, whatever they leave behind. */
const vars = { MAX_BUILDS: "1000", MAX_BUILDS_PER_ACCOUNT: "100", MAX_TESTDRIVES: "1000" };
/** The agent runs as many builds as test files run in parallel. */
const agent = { KILN_AGENT_SLOTS: "2" };

/** Starts each service when a file first requests it, and stops all of them at the end. */
export default async function shareServices(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "kiln-elsewhere-"));
  const web = await serveFiles(folder);
  const elsewhere = { folder, url: web.url };
  const services = new Map<string, Promise<Service>>();
  const start = (kind: string): Promise<Service> => {
    const options = ["--allow-host", new URL(web.url).host];
    const started =
      services.get(kind) ?? startService(kind === "with-agent" ? options : [...options, "--no-agent"], vars, agent);
    services.set(kind, started);
    return started;
  };
  const server = createServer(async ({ url = "" }, answer) => {
    try {
      const service = await start(url.slice(1));
      const shared: SharedService = { stateDir: service.stateDir, ready: service.ready(), elsewhere };
      answer.end(JSON.stringify(shared));
    } catch (error) {
      answer.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  project.provide("sharedServices", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    await Promise.all([...services.values()].map(async (service) => (await service).stop()));
    web[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true });
  };
}
