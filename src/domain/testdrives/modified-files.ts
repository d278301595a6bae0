import {
  contentSizeHeader,
  ModifiedAnswer,
  maxAnswerBytes,
  type ModifiedFilter,
  type ModifiedList,
  type ModifiedOrder,
} from "#contract/index";
import { Refusal } from "#domain/refusal";
import { testdriveObject } from "#domain/testdrives/testdrive";
import { readAtMost } from "#repodata/streams";
import type { Database } from "#storage/db";
import { findTestdrive, type Testdrive } from "#storage/testdrives";

type SessionsEnv = Pick<Env, "TESTDRIVES">;
type Wanted = ModifiedOrder["wanted"];

/** A testdrive of this account, also one that is over. */
export async function getOwnTestdrive(db: Database, accountId: number, id: number): Promise<Testdrive> {
  const testdrive = await findTestdrive(db, id);
  if (testdrive?.accountId === accountId) return testdrive;
  throw new Refusal("unknown_error", { reason: "unknown", message: "There is no testdrive of that id." });
}

/** What its session has otherwise than its image. */
export async function listModified(
  env: SessionsEnv,
  testdrive: Testdrive,
  { filter, withDifferences }: { filter: ModifiedFilter; withDifferences: boolean },
): Promise<ModifiedList> {
  const answer = await ask(env, testdrive, { filter, wanted: { kind: "list", withDifferences } });
  if (!isJson(answer)) throw await unusable(answer);
  const told = await readAnswer(answer);
  if (told.kind === "refused") throw refusalOf(told);
  return told;
}

export interface ModifiedContent {
  /** Undefined: not known before its end. */
  size: number | undefined;
  body: ReadableStream<Uint8Array>;
}

/** The bytes of a regular file of the session; with `reading` those of the moment of that list. */
export function openModified(
  env: SessionsEnv,
  testdrive: Testdrive,
  { path, reading }: { path: string; reading?: string },
): Promise<ModifiedContent> {
  const wanted = { kind: "data" as const, path, ...(reading === undefined ? {} : { reading }) };
  return open(env, testdrive, { filter: { paths: [], except: [] }, wanted });
}

/** A tar.gz of what was added and changed. */
export const openModifiedArchive = (
  env: SessionsEnv,
  testdrive: Testdrive,
  filter: ModifiedFilter,
): Promise<ModifiedContent> => open(env, testdrive, { filter, wanted: { kind: "archive" } });

async function open(
  env: SessionsEnv,
  testdrive: Testdrive,
  order: { filter: ModifiedFilter; wanted: Wanted },
): Promise<ModifiedContent> {
  const answer = await ask(env, testdrive, order);
  if (isJson(answer)) {
    const told = await readAnswer(answer);
    throw told.kind === "refused" ? refusalOf(told) : await unusable(answer);
  }
  if (!answer.body) throw await unusable(answer);
  const announced = answer.headers.get(contentSizeHeader) ?? "";
  if (!/^\d{1,15}$/.test(announced)) return { size: undefined, body: answer.body };
  const size = Number(announced);
  // Breaks when there is more, or less.
  return { size, body: answer.body.pipeThrough(new FixedLengthStream(size)) };
}

const ask = (env: SessionsEnv, testdrive: Testdrive, order: { filter: ModifiedFilter; wanted: Wanted }) =>
  testdriveObject(env, testdrive).fetch("https://testdrive/modified/orders", {
    method: "POST",
    body: JSON.stringify(order),
  });

const isJson = ({ headers }: Response) => headers.get("content-type")?.startsWith("application/json") ?? false;

/** What an agent says is looked at, like all that comes from outside. */
async function readAnswer(answer: Response): Promise<ModifiedAnswer> {
  const parsed = ModifiedAnswer.safeParse(await jsonIn(answer));
  if (parsed.success) return parsed.data;
  console.error("an agent's answer about modified files cannot be used:", parsed.error.message.slice(0, 500));
  throw unreadable();
}

/** Undefined if it is not valid, too long, or incomplete. */
async function jsonIn({ body }: Response): Promise<unknown> {
  try {
    return body && JSON.parse(new TextDecoder().decode(await readAtMost(body, maxAnswerBytes, "the answer")));
  } catch {
    return undefined;
  }
}

async function unusable(answer: Response): Promise<Refusal> {
  console.error("an agent answered something else than it was asked about modified files", answer.status);
  await answer.body?.cancel();
  return unreadable();
}

export const unreadable = () =>
  new Refusal("raw_image_unavailable", { message: "The session's files could not be read. Please try again." });

function refusalOf({ why, message }: Extract<ModifiedAnswer, { kind: "refused" }>): Refusal {
  return new Refusal(why === "no_file" ? "invalid_path" : "raw_image_unavailable", { message });
}
