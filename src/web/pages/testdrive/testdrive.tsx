import type { Context } from "hono";
import { guestWebUrl } from "#domain/testdrives/guest-web";
import { Refusal } from "#domain/refusal";
import { getOwnTestdrive } from "#domain/testdrives/modified-files";
import {
  findTestdriveByPage,
  lookAtTestdrive,
  stopTestdrive,
  testdriveObject,
  type TestdriveLook,
} from "#domain/testdrives/testdrive";
import type { Testdrive } from "#storage/testdrives";
import { factory, type WebEnv } from "../../factory.ts";
import { page } from "../../page.tsx";
import { takeResult } from "../../result.ts";
import { withSession } from "../../session.ts";
import { Drawer } from "./drawer.tsx";
import { keepChosen, modifiedArchive, readModified } from "./modified.ts";
import { subjectOf, titleOf } from "./subject.ts";
import { TestdriveView } from "./view.tsx";
import type { TestdriveStatus } from "./status.ts";

const path = "/testdrive/:id/:pageToken";

/** The page of one testdrive, and the calls of its script. Anyone who knows the URL may watch and type. */
export const testdrivePage = factory
  .createApp()
  .get(path, (c) => showTestdrive(c))
  .use(`${path}/modified_files/*`, withSession)
  .post(`${path}/modified_files`, async (c) => {
    const testdrive = await getTestdrive(c);
    const back = `${addressOf(testdrive)}?panel=files`;
    return await keepChosen(c, { id: testdrive.id, back, again: showTestdrive });
  })
  .get(`${path}/modified_files/archive`, async (c) => await modifiedArchive(c, (await getTestdrive(c)).id))
  .get(`${path}/state`, async (c) => {
    const testdrive = await getTestdrive(c);
    return c.json(statusOf(await lookAtTestdrive(c.env, testdrive), Date.now()));
  })
  .post(`${path}/stop`, async (c) => {
    const testdrive = await getTestdrive(c);
    return c.json(statusOf(await stopTestdrive(c.env, testdrive), Date.now()));
  })
  .get(`${path}/socket`, async (c) => {
    const testdrive = await getTestdrive(c);
    const origin = c.req.header("origin");
    if (origin !== undefined && ![c.var.baseUrl, c.req.url].some((url) => new URL(url).origin === origin)) {
      throw new Refusal("access_denied", { message: "Pages of other sites must not connect." });
    }
    return await testdriveObject(c.env, testdrive).fetch(new Request("https://testdrive/page", c.req.raw));
  });

const addressOf = ({ id, pageToken }: Testdrive): string => `/testdrive/${id}/${pageToken}`;

/** The drawer is open at `?panel=files`, and when one of its forms is shown again. */
async function showTestdrive(c: Context<WebEnv>): Promise<Response> {
  const testdrive = await getTestdrive(c);
  const [look, subject] = await Promise.all([lookAtTestdrive(c.env, testdrive), subjectOf(c, testdrive)]);
  const status = statusOf(look, Date.now());
  const at = addressOf(testdrive);
  const isOpen = subject.isOwn && (c.req.query("panel") === "files" || c.req.method === "POST");
  const own = isOpen ? await getOwnTestdrive(c.var.db, testdrive.accountId, testdrive.id) : undefined;
  const modified = own && (await readModified(c, own));
  const webUrl = guestWebUrl(c.env, c.var.baseUrl, testdrive);
  const drawer = <Drawer at={at} subject={subject} modified={modified} result={takeResult(c)} />;
  return await page(c, <TestdriveView {...{ at, subject, status, look, webUrl, drawer }} />, {
    title: `Testdrive of ${titleOf(subject)}`,
    look: "console-page",
    style: "testdrive.css",
    isBare: true,
    scripts: ["testdrive.js"],
    ...(status.state === "ended" && !c.var.given && { status: 410 }),
  });
}

/** The testdrive of the URL. A wrong token gives the same answer as a wrong id. */
async function getTestdrive(c: Context<WebEnv>): Promise<Testdrive> {
  const { id = "", pageToken = "" } = c.req.param();
  const found = /^[1-9]\d{0,14}$/.test(id)
    ? await findTestdriveByPage({ db: c.var.db, env: c.env }, Number(id), pageToken)
    : undefined;
  if (!found) throw new Refusal("unknown_error", { reason: "unknown", message: "There is no testdrive at this URL." });
  return found;
}

/** `look` is undefined if the testdrive ended so long ago that the reason is no longer stored. */
function statusOf(look: TestdriveLook | undefined, at: number): TestdriveStatus {
  const state = look?.state ?? ({ status: "ended", reason: "The testdrive is over." } as const);
  switch (state.status) {
    case "waiting":
      return { state: "waiting", message: "", secondsLeft: null, viewers: 0 };
    case "preparing":
      return { state: "preparing", message: state.message, secondsLeft: null, viewers: total(state.viewers) };
    case "running": {
      const secondsLeft = Math.max(0, Math.ceil((state.endsAt - at) / 1000));
      return { state: "running", message: state.message ?? "", secondsLeft, viewers: total(state.viewers) };
    }
    case "ended":
      return { state: "ended", message: state.reason, secondsLeft: 0, viewers: 0 };
  }
}

const total = ({ page, tcp }: { page: number; tcp: number }) => page + tcp;
