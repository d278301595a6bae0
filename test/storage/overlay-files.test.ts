/** The SQL itself checks the account: a row may have changed since the domain checked it. */
import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import {
  addOverlayFile,
  changeOverlayFile,
  deleteOverlayFile,
  findAnyOverlayFile,
  listOverlayFiles,
  replaceContent,
  type OverlayFile,
} from "#storage/overlay-files";
import { signedIn } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { uploadFile } from "../support/files.ts";

const db = openDatabase(env);
const quotaBytes = 2 ** 30;
const content = { blobId: "another", size: 3, md5: "0".repeat(32), sha256: "0".repeat(64) };

let file: OverlayFile;
let owner: number;
let stranger: number;

beforeEach(async () => {
  const tux = await signedIn();
  owner = tux.accountId;
  stranger = (await signedIn()).accountId;
  const { id } = await uploadFile(tux, await createAppliance(tux), "hello");
  file = (await findAnyOverlayFile(db, Number(id))) ?? expect.fail("the file is not there");
});

const files = () => listOverlayFiles(db, file.applianceId);

it("adds no file to another account's appliance", async () => {
  const { id: _, ...row } = file;
  expect(await addOverlayFile(db, row, { accountId: stranger, quotaBytes, most: 1000 })).toBeUndefined();
  expect(await files()).toEqual([file]);
  expect(await addOverlayFile(db, row, { accountId: owner, quotaBytes, most: 1000 })).toMatchObject(row);
});

it("changes no file of another account", async () => {
  expect(await changeOverlayFile(db, file, { path: "/root" }, stranger)).toBeUndefined();
  expect(await files()).toEqual([file]);
  expect(await changeOverlayFile(db, file, { path: "/root" }, owner)).toEqual({ ...file, path: "/root" });
});

it("replaces the content of no file of another account", async () => {
  expect(await replaceContent(db, file, content, { accountId: stranger, quotaBytes })).toBeUndefined();
  expect(await files()).toEqual([file]);
  expect(await replaceContent(db, file, content, { accountId: owner, quotaBytes })).toEqual({ ...file, ...content });
});

it("deletes no file of another account", async () => {
  expect(await deleteOverlayFile(db, file, stranger)).toBe(false);
  expect(await files()).toEqual([file]);
  expect(await deleteOverlayFile(db, file, owner)).toBe(true);
  expect(await files()).toEqual([]);
});
