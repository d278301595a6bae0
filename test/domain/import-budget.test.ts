import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { importRepository } from "#domain/repositories/import";
import { openDatabase } from "#storage/db";
import { stopClock } from "../support/clock.ts";
import { mirrorOf, rpmMd } from "../support/mirror.ts";
import { newRepository } from "../support/test-repository.ts";

const db = openDatabase(env);

beforeEach(stopClock);
afterEach(() => void vi.useRealTimers());

it("ends when the imports of an account have read its packages of the day, and the last good revision stays", async () => {
  const repository = await newRepository();
  const { id } = await repository.row();
  const limited = { ...env, ACCOUNT_RATES: "packages_a_day=3" };
  const importing = (...packages: string[]) =>
    importRepository({ env: limited, db }, id, mirrorOf({ [repository.url]: rpmMd(packages) }));

  await importing("a-one-1", "a-two-1");
  await importing("a-one-2", "a-two-2");
  const { revision } = await repository.row();
  await importing("a-one-3");

  const problem = expect.stringContaining("limit of 3 imported packages a day");
  expect(await repository.row()).toMatchObject({ problem, revision, packageCount: 2 });
  expect((await repository.leftovers()).rows).toBe(2);
});

it("does not count for other accounts", async () => {
  const limited = { ...env, ACCOUNT_RATES: "packages_a_day=1" };
  for (const repository of [await newRepository(), await newRepository()]) {
    const { id } = await repository.row();
    const mirror = mirrorOf({ [repository.url]: rpmMd(["a-one-1"]) });
    await importRepository({ env: limited, db }, id, mirror);
    expect(await repository.row()).toMatchObject({ importState: "ready", problem: null });
  }
});
