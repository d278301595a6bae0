import { env } from "cloudflare:workers";
import { vi } from "vitest";
import type { AgentNotice, AgentReport, Capabilities } from "#lib/contract/index";
import { switchboard } from "#domain/jobs";
import { capabilities } from "./fake-agent.ts";
import { patienceMs } from "./patience.ts";

/** An agent's socket to the pool. */
export interface Connected {
  agentId: number;
  notices: AgentNotice[];
  headers: Headers;
  /** Resolves when the pool has the report. */
  reports: (report: Partial<AgentReport>) => Promise<void>;
  close: () => void;
}

export const report: AgentReport = {
  type: "report",
  load: 0,
  freeGb: 9,
  slots: { builds: 1, testdrives: 0 },
  free: { builds: 1, testdrives: 0 },
  can: capabilities,
};

/** Capabilities that only agents of one test have, so that they get no other work: only a builder root. */
export const onlyIn = (root: string): Capabilities => ({
  ...capabilities,
  imageTypes: [],
  roots: [
    { name: root, sha256: "d".repeat(64), builder: "9.24.56", imageTypes: ["oem"], packageTypes: ["rpm", "deb"] },
  ],
});

type Pool = ReturnType<typeof switchboard>;
let lastId = 5_000_000;

/** Connects agents that have no row. All send the same report, or none. */
export async function connect(
  count: number,
  { said, pool = switchboard(env) }: { said?: Partial<AgentReport> | undefined; pool?: Pool } = {},
): Promise<Connected[]> {
  const all: Connected[] = [];
  for (let nth = 0; nth < count; nth += 1) all.push(await connectOne(pool, said && { ...report, ...said }));
  if (said) await known(pool, all);
  return all;
}

async function connectOne(pool: Pool, said?: AgentReport): Promise<Connected> {
  const agentId = (lastId += 1);
  const url = `https://switchboard/?agent=${agentId}`;
  const { webSocket, headers } = await pool.fetch(url, { headers: { upgrade: "websocket" } });
  if (!webSocket) throw new Error("there is no socket");
  webSocket.accept();
  const notices: AgentNotice[] = [];
  webSocket.addEventListener("message", ({ data }) => void notices.push(JSON.parse(String(data))));
  const send = (text: AgentReport) => webSocket.send(JSON.stringify(text));
  if (said) send(said);
  const one: Connected = {
    agentId,
    notices,
    headers,
    close: () => webSocket.close(),
    reports: async (more) => {
      const load = Math.random() * 100;
      send({ ...report, ...said, ...more, load });
      await vi.waitFor(async () => {
        const found = (await pool.reports()).find((each) => each.agentId === agentId);
        if (found?.report.load !== load) throw new Error("the report has not arrived");
      }, patienceMs);
    },
  };
  return one;
}

/** Waits until the pool has every agent's report. */
async function known(pool: Pool, all: readonly Connected[]): Promise<void> {
  await vi.waitFor(async () => {
    const ids = new Set((await pool.reports()).map(({ agentId }) => agentId));
    if (!all.every(({ agentId }) => ids.has(agentId))) throw new Error("a report has not arrived");
  }, patienceMs);
}

/** The number of notices that each of them has received. */
export const counts = (agents: readonly Connected[]): number[] => agents.map(({ notices }) => notices.length);
export const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
