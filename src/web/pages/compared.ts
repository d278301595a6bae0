import type { Context } from "hono";
import { differenceText } from "#documents/difference-text";
import { spend } from "#domain/accounts/rates";
import { buildDifference, compareFiles, getCompared } from "#domain/difference/builds";
import type { WebEnv } from "../factory.ts";

const maxFiles = 200;

/** What differs between two builds, as text. Reading both is expensive, so it is rate-limited. */
export async function comparedText(c: Context<WebEnv>, ids: { from: number; to: number }): Promise<string> {
  const { db, account } = c.var;
  await spend({ env: c.env, db }, account.id, "differences");
  const compared = await getCompared({ env: c.env, db }, account.id, ids);
  const files = await compareFiles(c.env, { ...compared, readerId: account.id }, { path: "/", limit: maxFiles });
  return differenceText(buildDifference(compared.from, compared.to), files, undefined);
}
