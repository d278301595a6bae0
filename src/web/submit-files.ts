import { createHash } from "node:crypto";
import type { Context } from "hono";
import type { z } from "zod";
import { damagedForm, withoutEmpty } from "#http/upload-form";
import { spend } from "#domain/accounts/rates";
import { Refusal } from "#domain/refusal";
import { refuseInReadOnlyMode } from "#domain/service-settings";
import { receiveFiles, type IncomingFile } from "#http/upload";
import type { WebEnv } from "./factory.ts";
import type { GivenFields } from "./faults.ts";
import { answerForm, answerRefused, emptyForm, type Done, type Submission, type Sent } from "./submit.ts";

interface SentFiles<F> extends Sent {
  /** At least one. */
  files: readonly [F, ...F[]];
  /** Works with a file. If the work succeeds, its result owns the file. Other files are discarded. */
  use: <R>(file: F, work: () => Promise<R>) => Promise<R>;
}

interface FileSubmission<T extends z.ZodType, F> extends Omit<Submission<T>, "act" | "checks"> {
  /** The id of the form, which the page shows again. */
  form: string;
  maxFiles?: number;
  /** Stores a file while it arrives. */
  store: (file: IncomingFile) => Promise<F>;
  /** The hash of the content, so that a form that is sent twice is done once. */
  sha256Of: (file: F) => string;
  discard: (file: F) => Promise<void>;
  /** The message if no file was chosen. */
  noFile: string;
  /** As in `Submission`, with the files. */
  checks?: (given: GivenFields, files: readonly F[]) => readonly (() => unknown)[];
  act: (values: z.output<T>, sent: SentFiles<F>) => Promise<Done>;
}

/** The hash of a file that is held in memory. */
export const sha256OfBytes = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** The stored files of a form. Those that no work has used are discarded. */
function storedFiles<F>({
  store,
  sha256Of,
  discard,
}: Pick<FileSubmission<z.ZodType, F>, "store" | "sha256Of" | "discard">) {
  const unused = new Set<F>();
  /** The names and hashes. */
  const contents: string[] = [];
  return {
    contents,
    put: async (file: IncomingFile) => {
      // If no file was chosen, a browser sends one without a name.
      if (file.fileName === undefined || file.fileName === "") return undefined;
      const stored = await store(file);
      unused.add(stored);
      contents.push(file.fileName, sha256Of(stored));
      return stored;
    },
    use: async <R>(file: F, work: () => Promise<R>): Promise<R> => {
      const made = await work();
      unused.delete(file);
      return made;
    },
    throwAway: async () => {
      for (const file of unused) await discard(file);
      unused.clear();
    },
  };
}

/** Handles a form with files like `submit`. The files are in the field `file`, and are read while they arrive. */
export async function submitFiles<T extends z.ZodType, F>(
  c: Context<WebEnv>,
  { act, store, sha256Of, discard, form, maxFiles = 1, rate, noFile, checks, ...others }: FileSubmission<T, F>,
): Promise<Response> {
  const what = { ...others, fieldOf: { missing_parameter: "file", ...others.fieldOf } };
  const { contents, put, use, throwAway } = storedFiles<F>({ store, sha256Of, discard });
  try {
    await refuseInReadOnlyMode({ env: c.env, db: c.var.db });
    if (rate) await spend({ env: c.env, db: c.var.db }, c.var.account.id, rate);
    // Discards the stored files.
    const handle = { store: put, discard: async () => {} };
    const received = await receiveFiles(c.req.raw, { maxFiles }, handle).catch(damagedForm("invalid_request"));
    const files = received.files.filter((file) => file !== undefined);
    const first: Record<string, string> = { ...withoutEmpty(received.fields), form };
    const all = (name: string) => (first[name] === undefined ? [] : [first[name]]);
    const some = () => atLeastOne(files, noFile);
    const whole: Submission<T> = {
      ...what,
      checks: (given) => [some, ...(checks?.(given, files) ?? [])],
      act: (values, sent) => act(values, { ...sent, files: some(), use }),
    };
    const answer = await answerForm<T>(c, whole, { first, all, contents });
    await throwAway();
    return answer;
  } catch (error) {
    if (error instanceof Refusal) await throwAway();
    return await answerRefused(c, what, { sent: { ...emptyForm(c), form }, error });
  }
}

function atLeastOne<F>([file, ...more]: readonly F[], noFile: string): [F, ...F[]] {
  if (file === undefined) throw new Refusal("missing_parameter", { message: noFile });
  return [file, ...more];
}
