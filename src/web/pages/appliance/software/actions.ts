import type { Context } from "hono";
import { z } from "zod";
import { runToCompletion } from "#http/run-to-completion";
import { parseRepositoryUrl } from "#domain/repositories/address";
import { dropRepository, useRepository } from "#domain/repositories/of-appliance";
import { importForAccount } from "#domain/repositories/repository";
import { Refusal } from "#domain/refusal";
import { namedIn } from "#domain/software/change";
import { effectBetween } from "#domain/software/effect";
import { loadSoftware } from "#domain/software/resolution-request";
import { deselect, getSelection, select, type SelectionRequest } from "#domain/software/software";
import { factory, type WebEnv } from "../../../factory.ts";
import { urlToContinue } from "../../../session.ts";
import type { Result } from "../../../result.ts";
import { submit } from "../../../submit.ts";
import { counted, signed, size } from "../../../parts/words.ts";
import { applianceAt, applianceRoute } from "../with-appliance.ts";

const repositoryId = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number)
  .optional();

const Change = z.object({
  do: z.enum(["add", "remove"]),
  kind: z.enum(["package", "pattern", "ban"]),
  name: z.string({ error: "Name a package." }).max(255),
  version: z.string().max(255).optional(),
  /** The only repository that it may come from. */
  repository: repositoryId,
  /** The heading above the form, if the form disappears with the change. */
  at: z.enum(["chosen", "bans"]).optional(),
});

const OfRepository = z.object({
  do: z.enum(["use", "drop", "import"]),
  repository: repositoryId,
  url: z.string().optional(),
  name: z.string().max(255, "A name has at most 255 characters.").optional(),
});

type Again = (c: Context<WebEnv>) => Promise<Response>;

/** The actions of the forms on the software page. */
export const softwareActions = (again: Again) =>
  factory
    .createApp()
    .post(`${applianceRoute}/software`, (c) =>
      submit(c, {
        fields: Change,
        rate: "software",
        fieldOf: { invalid_version: "version" },
        again,
        act: async (change) => {
          const opposite = await oppositeOf(c, change);
          const done = await changeSelection(c, { ...change, repositoryId: change.repository });
          const undo = { action: applianceAt(c.var.appliance.id, "software"), fields: opposite, swap: "main" };
          return { to: placeAfter(c, change), result: { ...done, ...(change.version === undefined && { undo }) } };
        },
      }),
    )
    .post(`${applianceRoute}/software/solve`, (c) =>
      submit(c, {
        rate: "software",
        again,
        act: async (_fields, { all }) => {
          const text = "The selection is changed.";
          const change = async () => {
            for (const [name, one] of Object.entries(waysOut))
              for (const value of all(name)) await changeOne(c, { ...one, ...namedIn(value) });
            return text;
          };
          return { to: placeAfter(c, { at: "chosen" }), result: await changing(c, change) };
        },
      }),
    )
    .post(`${applianceRoute}/software/repositories`, (c) =>
      submit(c, {
        fields: OfRepository,
        rate: "repositories",
        fieldOf: { missing_url: "url", download_error: "url", repository_already_exists: "url", invalid_value: "url" },
        checks: ({ do: what, url }) => [() => what === "import" && parseRepositoryUrl(c.env, urlIn(url))],
        again,
        act: async (wanted, { requestId }) => ({
          to: pageUrl(c),
          result: { text: await changeRepositories(c, { ...wanted, requestId }) },
        }),
      }),
    );

/** The fields that take a change back. What was removed comes back from where it was pinned to. */
async function oppositeOf(c: Context<WebEnv>, { do: what, kind, name }: z.output<typeof Change>) {
  if (what === "add") return { do: "remove", kind, name };
  const { packages, patterns } = await getSelection(c.var.db, c.var.appliance);
  const entry = [...packages, ...patterns].find((one) => one.kind === kind && one.name === name);
  return {
    do: "add",
    kind,
    name,
    ...(typeof entry?.version === "string" && { version: entry.version }),
    ...(typeof entry?.repositoryId === "number" && { repository: String(entry.repositoryId) }),
  };
}

/** The page that the form was on. The hit or the heading where the person works gets the focus there. */
function placeAfter(c: Context<WebEnv>, { kind, name, at }: { kind?: string; name?: string; at?: string | undefined }) {
  const to = new URL(pageUrl(c), c.var.baseUrl);
  if (to.pathname !== applianceAt(c.var.appliance.id, "software")) return to.href;
  to.searchParams.delete("look");
  to.searchParams.delete("at");
  if (at !== undefined) to.searchParams.set("at", at);
  else if (kind !== "ban" && name !== undefined && to.searchParams.get("q")) to.searchParams.set("look", name);
  return to.href;
}

const pageUrl = (c: Context<WebEnv>): string => urlToContinue(c.var.baseUrl, c.req.header("referer"));

type SelectionChange = SelectionRequest & { do: "add" | "remove" };

/** Changes the selection, and reports the effect on the image. */
const changeSelection = (c: Context<WebEnv>, change: SelectionChange): Promise<Result> =>
  changing(c, async () => `${change.name} ${await changeOne(c, change)}`);

/**
 * Makes a change, and reports it with its effect on the image: packages and bytes, or that it can no longer be built.
 */
async function changing(c: Context<WebEnv>, change: () => Promise<string>): Promise<Result> {
  const { db, appliance } = c.var;
  const services = { env: c.env, db };
  const software = await loadSoftware(db, appliance);
  const text = await change();
  const wanted = await loadSoftware(db, appliance);
  const effect = await runToCompletion(c, effectBetween(services, { software, wanted }, c.req.raw.signal));
  const why = "the top of the page explains why.";
  if (effect.state !== "solved")
    return { text: `${text} The appliance cannot be built like this: ${why}`, isWarning: true };
  const { before, after, added, removed } = effect;
  if (!before || !after) return { text };
  const installedBytes = after.installedBytes - before.installedBytes;
  const counts = `${counted(added.length, "package")} more, ${removed.length} fewer, ${signed(installedBytes, size)}.`;
  return { text: `${text} ${counts}`, change: { packages: after.packages - before.packages, installedBytes } };
}

/** Makes one change, and returns the verb that describes it. */
async function changeOne(c: Context<WebEnv>, { do: what, ...one }: SelectionChange): Promise<string> {
  const { db, appliance } = c.var;
  const services = { env: c.env, db };
  const { kind } = one;
  if (what === "add") await select(services, appliance, one);
  else await deselect(services, appliance, one);
  if (kind === "ban") return what === "add" ? "is banned." : "is allowed.";
  return what === "add" ? "is added." : "is removed.";
}

function urlIn(sent: string | undefined): string {
  if (sent !== undefined) return sent;
  throw new Refusal("missing_url", { message: "Enter the address of the repository." });
}

/** The fields of a solution, each with the change that it makes. */
const waysOut = {
  removePackages: { do: "remove", kind: "package" },
  removePatterns: { do: "remove", kind: "pattern" },
  unbanPackages: { do: "remove", kind: "ban" },
  addPackages: { do: "add", kind: "package" },
  addPatterns: { do: "add", kind: "pattern" },
  banPackages: { do: "add", kind: "ban" },
} as const;

async function changeRepositories(
  c: Context<WebEnv>,
  { do: what, repository, url, name, requestId }: z.output<typeof OfRepository> & { requestId: string | undefined },
): Promise<string> {
  const { db, account, appliance } = c.var;
  if (what === "import") {
    const address = urlIn(url);
    const request = { url: address, name: name ?? address, acceptsExpired: false, requestId };
    const added = await importForAccount({ env: c.env, db }, account.id, request);
    await useRepository(db, account, appliance, added.id);
    return `${added.name} is added.`;
  }
  if (repository === undefined) throw new Refusal("invalid_repository_id");
  if (what === "use") await useRepository(db, account, appliance, repository);
  else await dropRepository(db, account, appliance, repository);
  return what === "use" ? "The repository is added." : "The repository is removed.";
}
