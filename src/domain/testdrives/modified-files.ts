import {
  contentSizeHeader,
  isSecretPath,
  ModifiedAnswer,
  maxAnswerBytes,
  type ModifiedFile,
  type ModifiedFilter,
  type ModifiedList,
  type ModifiedOrder,
} from "#lib/contract/index";
import { cautionOf, type Caution } from "#domain/testdrives/caution";
import { secretFile } from "#domain/images/secret-files";
import { Refusal } from "#domain/refusal";
import { testdriveObject } from "#domain/testdrives/testdrive";
import { logFailure } from "#log/log";
import { readAtMost } from "#lib/repodata/streams";
import { findAnyBuild } from "#storage/builds";
import type { Database } from "#storage/db";
import { findTestdrive, type Testdrive } from "#storage/testdrives";

type SessionsEnv = Pick<Env, "TESTDRIVES">;
type Wanted = ModifiedOrder["wanted"];

/** A testdrive of the account that reads its files. */
export interface OwnTestdrive extends Testdrive {
  /**
   * Whether the image also belongs to the account. Otherwise it is from the gallery, and its secrets are the
   * publisher's.
   */
  isOfOwnImage: boolean;
}

/** A testdrive of this account, even one that has ended. */
export async function getOwnTestdrive(db: Database, accountId: number, id: number): Promise<OwnTestdrive> {
  const testdrive = await findTestdrive(db, id);
  if (testdrive?.accountId === accountId && !testdrive.isCheck) {
    const build = await findAnyBuild(db, testdrive.buildId);
    return { ...testdrive, isOfOwnImage: build?.accountId === accountId };
  }
  throw new Refusal("unknown_error", { reason: "unknown", message: "There is no testdrive with that id." });
}

/** Whether the account may read the content of a file in its testdrive. */
export const mayRead = ({ isOfOwnImage }: OwnTestdrive, path: string): boolean => isOfOwnImage || !isSecretPath(path);

export interface ListedFile extends ModifiedFile {
  /** Why the file is not saved unless the user chooses it. */
  caution: Caution | undefined;
}

/**
 * How a session's files differ from its image. For secrets that the account may not read, this shows only that they
 * differ.
 */
export async function listModified(
  env: SessionsEnv,
  testdrive: OwnTestdrive,
  { filter, withDifferences }: { filter: ModifiedFilter; withDifferences: boolean },
): Promise<Omit<ModifiedList, "files"> & { files: ListedFile[] }> {
  const answer = await ask(env, testdrive, { filter, wanted: { kind: "list", withDifferences } });
  if (!isJson(answer)) throw await unusable(answer);
  const answered = await readAnswer(answer);
  if (answered.kind === "refused") throw refusalOf(answered);
  const files = answered.files.map((file) => (mayRead(testdrive, file.path) ? file : withoutDifference(file)));
  return { ...answered, files: files.map((file) => ({ ...file, caution: cautionOf(file) })) };
}

function withoutDifference(file: ModifiedFile): ModifiedFile {
  const { difference: _, ...shown } = file;
  return shown;
}

export interface ModifiedContent {
  /** Undefined if the size is not known before the end. */
  size: number | undefined;
  body: ReadableStream<Uint8Array>;
}

/** The bytes of a regular file in the session. With `reading`, the file as it was in that list. */
export async function openModified(
  env: SessionsEnv,
  testdrive: OwnTestdrive,
  { path, reading }: { path: string; reading?: string },
): Promise<ModifiedContent> {
  if (!mayRead(testdrive, path)) throw secretFile();
  const wanted = { kind: "data" as const, path, ...(reading === undefined ? {} : { reading }) };
  return await open(env, testdrive, { filter: { paths: [], except: [] }, wanted });
}

/** A tar.gz of the files that were added or changed, without secrets that the account may not read. */
export const openModifiedArchive = (
  env: SessionsEnv,
  testdrive: OwnTestdrive,
  filter: ModifiedFilter,
): Promise<ModifiedContent> =>
  open(env, testdrive, {
    filter: { ...filter, ...(!testdrive.isOfOwnImage && { withoutSecrets: true }) },
    wanted: { kind: "archive" },
  });

async function open(
  env: SessionsEnv,
  testdrive: Testdrive,
  order: { filter: ModifiedFilter; wanted: Wanted },
): Promise<ModifiedContent> {
  const answer = await ask(env, testdrive, order);
  if (isJson(answer)) {
    const answered = await readAnswer(answer);
    throw answered.kind === "refused" ? refusalOf(answered) : await unusable(answer);
  }
  if (!answer.body) throw await unusable(answer);
  const announced = answer.headers.get(contentSizeHeader) ?? "";
  if (!/^\d{1,15}$/.test(announced)) return { size: undefined, body: answer.body };
  const size = Number(announced);
  // Fails if the body is longer or shorter than announced.
  return { size, body: answer.body.pipeThrough(new FixedLengthStream(size)) };
}

const ask = (env: SessionsEnv, testdrive: Testdrive, order: { filter: ModifiedFilter; wanted: Wanted }) =>
  testdriveObject(env, testdrive).fetch("https://testdrive/modified/orders", {
    method: "POST",
    body: JSON.stringify(order),
  });

const isJson = ({ headers }: Response) => headers.get("content-type")?.startsWith("application/json") ?? false;

/** Checks an agent's answer, like all input. */
async function readAnswer(answer: Response): Promise<ModifiedAnswer> {
  const parsed = ModifiedAnswer.safeParse(await jsonIn(answer));
  if (parsed.success) return parsed.data;
  logFailure("an agent's answer about modified files is invalid", parsed.error.message.slice(0, 500));
  throw unreadable();
}

/** Undefined if the JSON is invalid, too long, or incomplete. */
async function jsonIn({ body }: Response): Promise<unknown> {
  try {
    return body && JSON.parse(new TextDecoder().decode(await readAtMost(body, maxAnswerBytes, "the answer")));
  } catch {
    return undefined;
  }
}

async function unusable(answer: Response): Promise<Refusal> {
  logFailure("an agent's answer about modified files does not match the request", answer.status);
  await answer.body?.cancel();
  return unreadable();
}

export const unreadable = () =>
  new Refusal("raw_image_unavailable", { message: "The session's files could not be read. Please try again." });

function refusalOf({ why, message }: Extract<ModifiedAnswer, { kind: "refused" }>): Refusal {
  return new Refusal(why === "no_file" ? "invalid_path" : "raw_image_unavailable", { message });
}
