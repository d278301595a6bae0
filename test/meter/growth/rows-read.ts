import { withFate } from "../../support/storage-faults.ts";

/** The highest number of rows that a statement has read, by its text. */
export type RowsRead = Map<string, number>;

/** Does some work, and records how many rows each statement reads. */
export async function rowsRead(work: () => Promise<unknown>): Promise<RowsRead> {
  const most: RowsRead = new Map();
  await withFate(
    async (name, call, args = []) => {
      const result = await call();
      if (name.startsWith("D1 ")) note(most, args, result);
      return result;
    },
    async () => void (await work()),
  );
  return most;
}

function note(most: RowsRead, args: readonly unknown[], result: unknown): void {
  const statements = args.flat().filter((one) => typeof one === "string" && / /.test(one));
  for (const [nth, one] of [result].flat().entries()) {
    const sql = textOf(String(statements[nth]));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every result of D1 has it, also that of `raw`
    const { meta } = one as D1Result;
    most.set(sql, Math.max(most.get(sql) ?? 0, meta.rows_read));
  }
}

/** The statement without line breaks, and with shortened lists of values, because their length varies. */
const textOf = (sql: string): string => sql.replaceAll(/\s+/g, " ").replaceAll(/\(\?(?:, ?\?)+\)/g, "(?…)");
