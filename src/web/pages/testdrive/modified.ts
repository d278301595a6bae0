import { imageTypes } from "#lib/contract/index";
import type { Context } from "hono";
import { z } from "zod";
import { imagePath } from "#api/modified-files";
import { spend } from "#domain/accounts/rates";
import { startBuild } from "#domain/builds/start";
import { Refusal } from "#domain/refusal";
import { saveModifiedFiles } from "#domain/testdrives/keep-modified-files";
import {
  getOwnTestdrive,
  listModified,
  mayRead,
  openModifiedArchive,
  type ListedFile,
  type OwnTestdrive,
} from "#domain/testdrives/modified-files";
import { findAnyBuild } from "#storage/builds";
import type { WebEnv } from "../../factory.ts";
import { counted } from "../../parts/words.ts";
import { submit } from "../../submit.ts";
import { applianceAt } from "../appliance/with-appliance.ts";

/** The content of the drawer. */
export interface Modified {
  /** Files without a warning come first. */
  files: readonly ShownFile[];
  /** The number of files that are not shown. */
  more: number;
}

export interface ShownFile extends ListedFile {
  /** Whether it is a regular file of the session that this account may read. */
  isKeepable: boolean;
}

/** The maximum number of files that one request can keep. */
const maxKept = 200;
const maxShown = 300;
const whole = { paths: [], except: [] };

/** Reads how the session differs from its image. Returns a message if that cannot be read. */
export async function readModified(c: Context<WebEnv>, testdrive: OwnTestdrive): Promise<Modified | string> {
  try {
    await spend({ env: c.env, db: c.var.db }, testdrive.accountId, "modified_files");
    const { files } = await listModified(c.env, testdrive, { filter: whole, withDifferences: true });
    const known = files.filter(({ type }) => type !== "d");
    const inOrder = known.toSorted(
      (one, other) => Number(one.caution !== undefined) - Number(other.caution !== undefined),
    );
    const isKeepable = ({ change, type, path }: ListedFile) =>
      change !== "deleted" && type === "f" && mayRead(testdrive, path);
    return {
      files: inOrder.slice(0, maxShown).map((file) => ({ ...file, isKeepable: isKeepable(file) })),
      more: Math.max(0, inOrder.length - maxShown),
    };
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

/** Downloads everything that was added or changed. */
export async function modifiedArchive(c: Context<WebEnv>, id: number): Promise<Response> {
  const { db, account } = c.var;
  const testdrive = await getOwnTestdrive(db, account.id, id);
  await spend({ env: c.env, db }, account.id, "modified_files");
  const { body } = await openModifiedArchive(c.env, testdrive, whole);
  return new Response(body, {
    headers: {
      "content-type": "application/gzip",
      "content-disposition": `attachment; filename="modified-files-${id}.tar.gz"`,
      "content-encoding": "identity",
    },
  });
}

const Kept = z.object({ do: z.enum(["keep", "rebuild"]) });

interface Keeping {
  id: number;
  /** The address of the page with the drawer. */
  back: string;
  again: (c: Context<WebEnv>) => Promise<Response>;
}

/** Turns the chosen files into overlay files, and builds the appliance with them if requested. */
export const keepChosen = (c: Context<WebEnv>, { id, back, again }: Keeping): Promise<Response> =>
  submit(c, {
    fields: Kept,
    rate: "modified_files",
    again,
    act: async ({ do: what }, { all, requestId }) => {
      const { db, account } = c.var;
      const testdrive = await getOwnTestdrive(db, account.id, id);
      const request = { filter: { paths: chosen(all("path")), except: [] }, asArchive: false, applianceId: undefined };
      const target = { env: c.env, db, accountId: account.id };
      const { applianceId, files, leftOut } = await saveModifiedFiles(target, testdrive, request);
      const kept = `${counted(files.length, "file is", "files are")} kept in the appliance.`;
      const omitted = leftOut.length === 0 ? "" : ` Left out: ${leftOut.map(({ path }) => path).join(", ")}.`;
      if (what === "keep") return { to: back, result: { text: (kept + omitted).slice(0, 500) } };
      const built = await rebuild(c, { testdrive, applianceId, requestId });
      return { to: applianceAt(applianceId, "build"), result: { text: `${kept} ${built}${omitted}`.slice(0, 500) } };
    },
  });

function chosen(paths: readonly string[]): string[] {
  if (paths.length === 0) throw new Refusal("missing_parameter", { message: "Choose at least one file." });
  if (paths.length <= maxKept) return paths.map(imagePath);
  throw new Refusal("invalid_value", { message: `At most ${maxKept} files can be saved together. Choose fewer.` });
}

/** Starts the build, and returns the result. The files are kept in any case. */
async function rebuild(
  c: Context<WebEnv>,
  {
    testdrive,
    applianceId,
    requestId,
  }: { testdrive: OwnTestdrive; applianceId: number; requestId: string | undefined },
): Promise<string> {
  const { db, account, baseUrl } = c.var;
  try {
    await spend({ env: c.env, db }, account.id, "builds");
    const imageType = (await findAnyBuild(db, testdrive.buildId))?.imageType;
    const how = { version: undefined, force: false, multi: false, baseUrl, allowedTypes: imageTypes, requestId };
    await startBuild({ env: c.env, db }, account, { applianceId, imageType, ...how });
    return "The build has started.";
  } catch (error) {
    if (error instanceof Refusal) return `It is not being built: ${error.message}`;
    throw error;
  }
}
