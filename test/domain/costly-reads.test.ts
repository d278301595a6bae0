import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { spending } from "#domain/accounts/rates";
import type { Refusal } from "#domain/refusal";
import { openDatabase } from "#storage/db";
import { patienceMs } from "../support/patience.ts";

const place = { env: { ACCOUNT_RATES: "reads=0 differences=0 clones=0" }, db: openDatabase(env) };
const reader = (accountId: number) => ({ accountId, what: "reads" as const });

it("runs two costly reads at the same time, and lets another account's one run before the rest", async () => {
  const [hog, other] = [1, 2].map(reader) as [ReturnType<typeof reader>, ReturnType<typeof reader>];
  const order: number[] = [];
  let [running, most] = [0, 0];
  const read = (by: number) => async () => {
    most = Math.max(most, ++running);
    await scheduler.wait(30);
    running--;
    order.push(by);
  };
  const hogs = Array.from({ length: 8 }, () => spending(place, hog, read(1)));
  await Promise.all([...hogs, spending(place, other, read(2))]);
  expect(most).toBe(2);
  expect(order.indexOf(2)).toBeLessThan(4);
});

it("lets a number of an account's reads wait, and refuses the others", async () => {
  const open = Promise.withResolvers<void>();
  const all = Array.from({ length: 25 }, () => spending(place, reader(3), () => open.promise));
  const refused: string[] = [];
  const note = (error: Refusal) => void refused.push(`${error.reason} ${error.retryAfterSeconds}`);
  const seen = all.map((one) => one.then(() => "done").catch(note));
  await vi.waitFor(() => expect(refused).toEqual(["too_fast 2", "too_fast 2", "too_fast 2"]), patienceMs);
  open.resolve();
  // On a busy machine, some may wait so long that they are also refused.
  expect((await Promise.all(seen)).filter((one) => one === "done").length).toBeGreaterThanOrEqual(2);
});

it("lets cheap acts run at any time", async () => {
  const open = Promise.withResolvers<void>();
  const acts = Array.from({ length: 5 }, () => spending(place, { accountId: 4, what: "clones" }, () => open.promise));
  const held = [1, 2].map(() => spending(place, reader(4), () => open.promise));
  await spending(place, { accountId: 4, what: "clones" }, async () => open.resolve());
  await Promise.all([...acts, ...held]);
});
