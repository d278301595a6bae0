import { env } from "cloudflare:workers";
import {
  attemptHeader,
  contentSizeHeader,
  ModifiedOrder,
  type ModifiedAnswer,
  type ModifiedFile,
  type TestdriveClaim,
} from "#lib/contract/index";
import { visit, type Client } from "./client.ts";
import { open, runningDrive, type Drive, type Wire } from "./testdrives.ts";

/** A session whose agent answers requests about its files as the test specifies. */
export interface ModifiedDrive extends Drive {
  control: Wire;
  line: Wire;
  /** All requests so far. */
  orders: ModifiedOrder[];
}

/** The agent's answer: JSON, or bytes. */
export type AgentAnswer = ModifiedAnswer | { bytes: string | Uint8Array<ArrayBuffer>; size?: number } | { raw: string };

export const asAgent = (claim: TestdriveClaim) => ({
  authorization: `Bearer ${env.AGENT_TOKEN}`,
  [attemptHeader]: claim.token,
});

export const answerOrder = ({ id, claim }: Drive, request: string, told: AgentAnswer): Promise<Response> => {
  const isBytes = "bytes" in told;
  const type = isBytes ? "application/octet-stream" : "application/json";
  const size = isBytes && told.size !== undefined ? { [contentSizeHeader]: String(told.size) } : {};
  return visit(`/agent/testdrives/${id}/modified/${request}`, {
    method: "POST",
    headers: { ...asAgent(claim), "content-type": type, ...size },
    body: isBytes ? told.bytes : "raw" in told ? told.raw : JSON.stringify(told),
  });
};

export async function modifiedDrive(
  owner: Client,
  answerTo: (order: ModifiedOrder) => AgentAnswer,
): Promise<ModifiedDrive> {
  const drive = await runningDrive(owner);
  const line = await open(`/agent/testdrives/${drive.id}/modified`, asAgent(drive.claim));
  const orders: ModifiedOrder[] = [];
  void (async () => {
    for (;;) {
      const order = ModifiedOrder.parse(JSON.parse(String(await line.next())));
      orders.push(order);
      await answerOrder(drive, order.request, answerTo(order));
    }
  })();
  return { ...drive, line, orders };
}

export const modifiedFile = (change: Partial<ModifiedFile> = {}): ModifiedFile => ({
  change: "added",
  path: "/etc/motd",
  type: "f",
  mode: 0o640,
  uid: 0,
  gid: 100,
  owner: "root",
  group: "users",
  size: 6,
  content: true,
  ...change,
});

export const listOf = (
  files: ModifiedFile[],
  more: { truncated?: boolean; unnamed?: number } = {},
): ModifiedAnswer => ({
  kind: "list",
  reading: "one",
  files,
  truncated: false,
  unnamed: 0,
  ...more,
});
