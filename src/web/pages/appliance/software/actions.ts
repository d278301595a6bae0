import type { Context } from "hono";
import { z } from "zod";
import { dropRepository, useRepository } from "#domain/repositories/of-appliance";
import { importForAccount } from "#domain/repositories/repository";
import { Refusal } from "#domain/refusal";
import { namedIn } from "#domain/software/change";
import { deselect, select, type SelectionRequest } from "#domain/software/software";
import { factory, type WebEnv } from "../../../factory.ts";
import { placeToGoOn } from "../../../session.ts";
import { submit } from "../../../submit.ts";
import { counted } from "../../../parts/words.ts";
import { applianceAt, applianceRoute } from "../with-appliance.ts";

const Change = z.object({
  do: z.enum(["add", "remove"]),
  kind: z.enum(["package", "pattern", "ban"]),
  name: z.string({ error: "Name a package." }).max(255),
  version: z.string().max(255).optional(),
});

const OfRepository = z.object({
  do: z.enum(["use", "drop", "import"]),
  repository: z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .optional(),
  url: z.string().optional(),
  name: z.string().max(255).optional(),
});

type Again = (c: Context<WebEnv>) => Promise<Response>;

/** What the forms of the software page do. */
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
          const text = await changeSelection(c, change);
          const opposite = { do: change.do === "add" ? "remove" : "add", kind: change.kind, name: change.name };
          const undo = { action: applianceAt(c.var.appliance.id, "software"), fields: opposite };
          return { to: placeOf(c), result: { text, ...(change.version === undefined && { undo }) } };
        },
      }),
    )
    .post(`${applianceRoute}/software/solve`, (c) =>
      submit(c, {
        rate: "software",
        again,
        act: async (_fields, { all }) => {
          for (const [name, one] of Object.entries(waysOut))
            for (const value of all(name)) await changeSelection(c, { ...one, ...namedIn(value) });
          return { to: placeOf(c), result: { text: "The selection is changed." } };
        },
      }),
    )
    .post(`${applianceRoute}/software/repositories`, (c) =>
      submit(c, {
        fields: OfRepository,
        rate: "repositories",
        fieldOf: { missing_url: "url", download_error: "url", repository_already_exists: "url" },
        again,
        act: async (wanted, { requestId }) => ({
          to: placeOf(c),
          result: { text: await changeRepositories(c, { ...wanted, requestId }) },
        }),
      }),
    );

const placeOf = (c: Context<WebEnv>): string => placeToGoOn(c.var.baseUrl, c.req.header("referer"));

type SelectionChange = Pick<SelectionRequest, "kind" | "name" | "version"> & { do: "add" | "remove" };

/** Changes the selection, and says what that does to the image. */
async function changeSelection(c: Context<WebEnv>, { do: what, kind, name, version }: SelectionChange) {
  const { db, appliance } = c.var;
  const place = { env: c.env, db };
  const isAdded = what === "add";
  const done = await (isAdded
    ? select(place, appliance, { kind, name, version })
    : deselect(place, appliance, { kind, name }));
  const verb = kind === "ban" ? (isAdded ? "is banned" : "is allowed") : isAdded ? "is added" : "is removed";
  if (done.state === "broken")
    return `${name} ${verb}. The software does not resolve now.${done.message ? ` ${done.message}` : ""}`;
  return `${name} ${verb}: ${counted(done.packagesAdded, "package")} more, ${done.packagesRemoved} fewer.`;
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
    if (url === undefined) throw new Refusal("missing_url", { message: "Enter the address of the repository." });
    const request = { url, name: name ?? url, acceptsExpired: false, requestId };
    const added = await importForAccount({ env: c.env, db }, account.id, request);
    await useRepository(db, account, appliance, added.id);
    return `${added.name} is added.`;
  }
  if (repository === undefined) throw new Refusal("invalid_repository_id");
  if (what === "use") await useRepository(db, account, appliance, repository);
  else await dropRepository(db, account, appliance, repository);
  return what === "use" ? "The repository is added." : "The repository is removed.";
}
