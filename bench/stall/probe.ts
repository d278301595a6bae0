/**
 * Sends a cheap request every 50 ms, whether or not the last answer has arrived. It runs as a separate process, so that
 * a busy bench does not delay it.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent, get } from "node:http";
import { z } from "zod";
import { readFileSync } from "node:fs";

const everyMs = 50;
const givenUpMs = 30_000;

const Target = z.object({
  url: z.string(),
  authorization: z.string(),
  /** The process that answers the requests. */
  pid: z.number(),
  /** The source address of the requests, because the service also limits requests by address. */
  localAddress: z.string(),
});
export type Target = z.infer<typeof Target>;

const Answered = z.object({
  /** Elapsed time. */
  ms: z.number(),
  /**
   * The part of the elapsed time in which the service or the probe was ready to run, but other programs had the
   * processor.
   */
  othersMs: z.number(),
  /** A status code, or the reason why there was no answer. */
  status: z.union([z.number(), z.string()]),
});
export type Answered = z.infer<typeof Answered>;

/** Starts a probe. Returns the function that ends it after the outstanding answers. */
export function startProbe(target: Target): () => Promise<Answered[]> {
  const child = fork(import.meta.filename);
  child.send(target);
  return async () => {
    child.send("stop");
    const [answers] = await once(child, "message");
    child.disconnect();
    return z.array(Answered).parse(answers);
  };
}

if (process.argv[1] === import.meta.filename) process.once("message", (target) => probe(Target.parse(target)));

function probe(target: Target): void {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  const asked: Promise<Answered>[] = [];
  const timer = setInterval(() => asked.push(ask(target, agent)), everyMs);
  process.once("message", async () => {
    clearInterval(timer);
    process.send?.(await Promise.all(asked));
    agent.destroy();
  });
}

const othersMs = ({ pid }: Target): number => waitedMs(loopOf(pid)) + waitedMs("thread-self");

function ask(target: Target, agent: Agent): Promise<Answered> {
  const { url, authorization, localAddress } = target;
  const [startedAt, before] = [performance.now(), othersMs(target)];
  return new Promise((resolve) => {
    const answered = (status: number | string) => {
      const ms = performance.now() - startedAt;
      resolve({ ms, othersMs: Math.min(ms, othersMs(target) - before), status });
    };
    const signal = AbortSignal.timeout(givenUpMs);
    get(url, { agent, headers: { authorization }, localAddress, signal }, (answer) => {
      answer.on("error", (error) => answered(error.message));
      answer.on("end", () => answered(answer.statusCode ?? 0));
      answer.resume();
    }).on("error", (error) => answered(error.message));
  });
}

/**
 * How long a thread has been ready to run while other programs had the processor, in ms since it began: the second field of
 * schedstat (Linux, Documentation/scheduler/sched-stats.rst).
 */
function waitedMs(thread: `${number}/task/${number}` | "thread-self"): number {
  const [, nanoseconds] = readFileSync(`/proc/${thread}/schedstat`, "utf8").split(" ");
  return Number(nanoseconds) / 1e6;
}

/** workerd answers every request in its first thread, whose id is the process's. */
const loopOf = (pid: number) => `${pid}/task/${pid}` as const;
