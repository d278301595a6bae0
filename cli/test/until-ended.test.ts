import { expect, it } from "vitest";
import { unreachable } from "../src/client/failure.ts";
import { untilEnded } from "../src/until-ended.ts";

type Work = { state: string; ended_at?: string };
const how = { waiting: "waiting", begun: "It boots." };
const refused = unreachable("https://kiln.test", new Error("ECONNREFUSED"));

it("continues to wait if the service restarts", async () => {
  const answers: (Work | Error)[] = [{ state: "running" }, refused, { state: "passed", ended_at: "now" }];
  const last = async () => {
    const next = answers.shift();
    if (next instanceof Error) throw next;
    return next;
  };
  expect(await untilEnded({ note: () => {} }, last, how)).toMatchObject({ state: "passed" });
});

it("does not wait for a service that has not answered", async () => {
  await expect(untilEnded({ note: () => {} }, () => Promise.reject(refused), how)).rejects.toBe(refused);
});
