import { env } from "cloudflare:workers";
import { attemptHeader, guestHead, guestHeadHeader, TestdriveOrder, type GuestAnswer } from "#lib/contract/index";
import { visit } from "./client.ts";
import { runningDrive, type Drive } from "./testdrives.ts";
import type { Client } from "./client.ts";

/** A running session with a network, and its guest's web server as the agent sees it. */
export async function webDrive(owner: Client) {
  const drive = await runningDrive(owner, { network: "on" });
  const web = drive.web ?? "";
  const nextVisit = async () => {
    const order = TestdriveOrder.parse(JSON.parse(String(await drive.control.next())));
    if (order.type !== "visit") throw new Error(`the agent got the order ${order.type}`);
    return order;
  };
  /** Sets the guest's answer to the next visitor. */
  const guestSays = async (head: Partial<GuestAnswer>, body: BodyInit | null = null) => {
    const order = await nextVisit();
    return { order, answered: await answerVisit(drive, order.visit, { status: 200, headers: {}, ...head }, body) };
  };
  return { ...drive, web, nextVisit, guestSays };
}

const asAgent = ({ claim }: Drive) => ({
  authorization: `Bearer ${env.AGENT_TOKEN}`,
  [attemptHeader]: claim.token,
});

export const answerVisit = (drive: Drive, id: string, head: GuestAnswer, body: BodyInit | null = null) =>
  visit(`/agent/testdrives/${drive.id}/visits/${id}/answer`, {
    method: "POST",
    headers: { ...asAgent(drive), [guestHeadHeader]: guestHead(head) },
    body: body ?? "",
  });

export const bodyOfVisit = (drive: Drive, id: string) =>
  visit(`/agent/testdrives/${drive.id}/visits/${id}/body`, { headers: asAgent(drive) });
