import type { Context } from "hono";
import { spending } from "#domain/accounts/rates";
import {
  buildDifference,
  compareFiles,
  getCompared,
  type BuildDifference,
  type ComparedFiles,
} from "#domain/difference/builds";
import { textDifferences, type TextDifference } from "#domain/difference/texts";
import type { WebEnv } from "../factory.ts";

const maxFiles = 200;

/** The differences between two builds, for the pages. */
export interface Compared {
  difference: BuildDifference;
  files: ComparedFiles;
  texts: TextDifference[];
}

/** Compares two builds. Reading both is expensive, so few comparisons run at the same time, as in the API. */
export async function compare(c: Context<WebEnv>, ids: { from: number; to: number }): Promise<Compared> {
  const { db, account } = c.var;
  const services = { env: c.env, db };
  return await spending(services, { accountId: account.id, what: "differences" }, async () => {
    const compared = { ...(await getCompared(services, account.id, ids)), readerId: account.id };
    const files = await compareFiles(c.env, compared, { path: "/", limit: maxFiles });
    const texts = files.state === "compared" ? await textDifferences(services, compared, files.changes) : [];
    return { difference: buildDifference(compared.from, compared.to), files, texts };
  });
}
