import { Agent, get } from "node:http";
import { restClient } from "../../test/acceptance/support/rest.ts";
import type { Ready } from "../../test/acceptance/support/service.ts";
import { cloneJeos } from "../place.ts";
import { percentile } from "../statistics.ts";
import { authorizationOf, counted, newAccount, type Scenario } from "./scenario.ts";

const atOnce = 400;
const accounts = 4;
const seconds = 20;

/**
 * Every client repeats its request immediately after the answer, or after a refusal and the pause that this requires.
 */
export const clients: Scenario = {
  name: "clients",
  what: `${atOnce} clients of ${accounts} accounts at the same time, for ${seconds} s`,
  prepare: async (stage) => {
    const targets: Ready[] = [];
    for (let n = 0; n < accounts; n++) {
      const account = await newAccount(stage, `crowd${n}`);
      await cloneJeos(restClient(account));
      targets.push(account);
    }
    return async () => {
      const seen = await crowd(targets);
      const ms = seen.filter(({ status }) => status === 200).map((one) => one.ms);
      const [p50, p99, most] = [percentile(ms, 0.5), percentile(ms, 0.99), Math.max(...ms)].map((one) =>
        one.toFixed(0),
      );
      const statuses = counted(seen.map(({ status }) => status));
      return `${statuses}; those with 200 after ${p50} ms, p99 ${p99} ms, at most ${most} ms`;
    };
  },
};

type Seen = { status: number | string; ms: number; retryAfterMs: number };

async function crowd(targets: readonly Ready[]): Promise<Seen[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const seen: Seen[] = [];
  const endsAt = performance.now() + seconds * 1000;
  const client = async (target: Ready) => {
    while (performance.now() < endsAt) {
      const one = await ask(target, agent);
      seen.push(one);
      const waitMs = Math.min(one.retryAfterMs, endsAt - performance.now());
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  };
  try {
    await Promise.all(targets.flatMap((target) => Array.from({ length: atOnce / accounts }, () => client(target))));
    return seen;
  } finally {
    agent.destroy();
  }
}

function ask(account: Ready, agent: Agent): Promise<Seen> {
  const startedAt = performance.now();
  const headers = { authorization: authorizationOf(account) };
  return new Promise((resolve) => {
    const ended = (status: number | string, retryAfter = "0") =>
      resolve({ status, ms: performance.now() - startedAt, retryAfterMs: Number(retryAfter) * 1000 });
    get(`${account.url}/api/v2/user/appliances`, { agent, headers }, (answer) => {
      answer.on("error", (error) => ended(error.message));
      answer.on("end", () => ended(answer.statusCode ?? 0, answer.headers["retry-after"]));
      answer.resume();
    }).on("error", (error) => ended(error.message));
  });
}
