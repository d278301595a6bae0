import { createHash } from "node:crypto";
import type { Context } from "hono";
import { z } from "zod";
import { shown } from "#api/errors";
import { readRepeated } from "#http/params";
import { unwritable } from "#http/body-text";
import { claimKey, holdKey, type Outcome } from "#domain/accounts/idempotency";
import { spend } from "#domain/accounts/rates";
import type { Rated } from "#domain/accounts/default-rates";
import { Refusal } from "#domain/refusal";
import { refuseInReadOnlyMode } from "#domain/service-settings";
import type { WebEnv } from "./factory.ts";
import { faultsOfChecks, faultsOfRefusal, faultsOfShape, type FaultRules } from "./faults.ts";
import type { Given } from "./given.ts";
import { giveResult, Result } from "./result.ts";
import { checkSentForm } from "./session.ts";

/** The next page, and the result that it shows. */
const Done = z.object({ to: z.string(), result: Result.optional() });
export type Done = z.infer<typeof Done>;

export interface Sent {
  /** Every value of a field that may appear several times. */
  all: (name: string) => string[];
  /** Stored with whatever the action creates, so that a repeat finds that. */
  requestId: string | undefined;
}

export interface Submission<T extends z.ZodType> extends FaultRules {
  /** The fields. An empty one counts as absent. The messages are shown at the field. */
  fields?: T;
  rate?: Rated;
  /** Set for the operator's forms, which also work while the service is read-only. */
  evenReadOnly?: true;
  /** Performs the action. A Response, such as a page that shows a secret once, is sent unchanged. */
  act: (values: z.output<T>, sent: Sent) => Promise<Done | Response>;
  /** Shows the page with the form again, if the form is refused. */
  again: (c: Context<WebEnv>) => Response | Promise<Response>;
}

/** Handles a form. Afterwards the browser goes to the next page, or gets the refused form again with its values. */
export async function submit<T extends z.ZodType>(c: Context<WebEnv>, what: Submission<T>): Promise<Response> {
  return await answerForm(c, what, await readRepeated(c));
}

/** The fields of a form that has been read. */
export interface Read {
  first: Record<string, string>;
  all: (name: string) => string[];
  /** The name and SHA-256 of each file. */
  contents?: readonly string[];
}

export async function answerForm<T extends z.ZodType>(
  c: Context<WebEnv>,
  what: Submission<T>,
  read: Read,
): Promise<Response> {
  checkSentForm(c, read.first);
  const all = (name: string) => read.all(name).map(asWritten);
  const { form_token: _, once, form, ...given } = read.first;
  const fields = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, asWritten(value)]));
  const shape: z.ZodType = what.fields ?? z.object({});
  const values = Object.fromEntries(Object.keys(fields).map((name) => [name, all(name)]));
  const sent: Given = { ...emptyForm(c), form, values };
  const parsed = shape.safeParse(fields);
  if (!parsed.success) return await showAgain(c, what, { ...sent, faults: faultsOfShape(parsed.error) });
  try {
    if (!what.evenReadOnly) await refuseInReadOnlyMode({ env: c.env, db: c.var.db });
    const work = async (requestId: string | undefined) => {
      if (what.rate) await spend({ env: c.env, db: c.var.db }, c.var.account.id, what.rate);
      return await what.act(parsed.data as z.output<T>, { all, requestId });
    };
    const done =
      once === undefined ? await work(undefined) : await doneOnce(c, { once, sent, contents: read.contents, work });
    return done instanceof Response ? done : goOn(c, done);
  } catch (error) {
    return await answerRefused(c, what, { sent, error });
  }
}

export const emptyForm = (c: Context<WebEnv>): Given => ({
  action: new URL(c.req.url).pathname,
  form: undefined,
  values: {},
  faults: {},
  fault: undefined,
});

/** Shows the form again with its faults. Something that does not exist or is not allowed gets an error page instead. */
export async function answerRefused<T extends z.ZodType>(
  c: Context<WebEnv>,
  what: Omit<Submission<T>, "act">,
  { sent, error }: { sent: Given; error: unknown },
): Promise<Response> {
  const { status, headers } = shown(error);
  if (!(error instanceof Refusal) || [403, 404, 410].includes(status)) throw error;
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  const faults = faultsOfRefusal(what, error);
  const isAboutFields = Object.keys(faults).length > 0;
  return await showAgain(c, what, {
    ...sent,
    ...(isAboutFields ? { faults } : { fault: error.message, repository: error.repository }),
  });
}

/** Forms send CRLF line ends. Characters that XML cannot contain would break the API's answers. */
const asWritten = (value: string): string => value.replaceAll("\r\n", "\n").replaceAll(unwritable, "");

type Work = (requestId: string | undefined) => ReturnType<Submission<z.ZodType>["act"]>;

/** If the same form is sent twice, even at the same time, it is done once, and both requests lead to the same page. */
async function doneOnce(
  c: Context<WebEnv>,
  { once, sent, contents, work }: { once: string; sent: Given; contents: Read["contents"]; work: Work },
): Promise<Awaited<ReturnType<Work>>> {
  const store = { db: c.var.db, env: c.env };
  // A form that is changed and sent again after going back is a new one.
  const requestSha256 = createHash("sha256")
    .update(JSON.stringify([once, sent.action, sent.form, sent.values, contents]))
    .digest("hex");
  const key = `page ${requestSha256}`;
  const claimed = await whenFree(() => claimKey(store, { accountId: c.var.account.id, key, requestSha256 }));
  if ("answer" in claimed) {
    if (claimed.answer.body === null) throw new Refusal("unknown_error", { message: shownOnce });
    return Done.parse(JSON.parse(claimed.answer.body));
  }
  let result: Awaited<ReturnType<Work>> | undefined;
  let thrown: unknown;
  await holdKey(store, claimed.holder, async (): Promise<Outcome> => {
    try {
      result = await work(claimed.holder.requestId);
    } catch (error) {
      thrown = error;
      return error instanceof Refusal ? "refused" : "failed";
    }
    const isSecret = result instanceof Response;
    return { status: 303, contentType: "application/json", body: isSecret ? null : JSON.stringify(result) };
  });
  if (result === undefined) throw thrown;
  return result;
}

const [pauseMs, pauses] = [250, 40];

/** A browser shows the answer to the second click, so the second request waits until the first is done. */
async function whenFree<T>(claim: () => Promise<T>, left = pauses): Promise<T> {
  try {
    return await claim();
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== "repeated") throw error;
    if (left === 0)
      throw new Refusal("unknown_error", { message: "This is still being done. Look again in a moment." });
    await scheduler.wait(pauseMs);
    return await whenFree(claim, left - 1);
  }
}

const shownOnce = "This was already done. Its secret was shown then, and is not shown again.";

function goOn(c: Context<WebEnv>, { to, result }: Done): Response {
  if (result) giveResult(c, result);
  return c.redirect(to, 303);
}

async function showAgain<T extends z.ZodType>(
  c: Context<WebEnv>,
  { again, ...what }: Omit<Submission<T>, "act">,
  given: Given,
): Promise<Response> {
  c.set("given", { ...given, faults: { ...(await faultsOfChecks(what, given)), ...given.faults } });
  return await again(c);
}
