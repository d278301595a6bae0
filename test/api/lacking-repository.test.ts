/** An appliance that is older than a repository of its base system, and needs packages from that repository. */
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { importRepository } from "#domain/repositories/import";
import { openDatabase } from "#storage/db";
import { browser } from "../support/browser.ts";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createSafeAppliance } from "../support/factories.ts";
import { pageOf } from "../support/html.ts";
import { publish, rpmMd } from "../support/mirror.ts";
import { tinyLinux, tinyRepository } from "../support/repositories.ts";

const db = openDatabase(env);
const isNeeded = (one: string) => one.startsWith("dracut-kiwi-live");

it("is told which one to add, and adds it with one click", async () => {
  await loadTemplates();
  const repositories = {
    main: tinyLinux.main.filter(isNeeded),
    updates: tinyLinux.main.filter((one) => !isNeeded(one)),
  };
  for (const name of ["main", "updates"] as const) {
    await publish(`tiny/${name}`, rpmMd(repositories[name]));
    await importRepository({ env, db }, await tinyRepository(name));
  }
  const tux = await signedIn();
  const id = await createSafeAppliance(tux);
  const main = await tinyRepository("main");
  await tux.post(`/appliances/${id}/cmd/remove_repository`, { repo_id: main });

  await tux.post(`/appliances/${id}/cmd/remove_pattern`, { name: "base" });
  await tux.put(`/appliances/${id}/configuration`, "<configuration><type>net</type></configuration>");

  const text = `net needs dracut-kiwi-live, which only the repository ${main} has (Tiny Linux 1.0 main). Add it to the appliance.`;
  expect(await issuesOf(tux, id)).toContainEqual({ type: "error", text, repository: main });

  const firefox = browser();
  await firefox.beginSession(tux);
  const form_token = await firefox.formToken();
  const build = { form: "new-build", form_token, image_type: "net" };
  const refused = await pageOf(firefox.post(`/appliance/${id}/builds`, build));
  const add = refused.querySelector("#new-build button[formaction$='/software/repositories']");
  expect(add?.textContent?.trim()).toBe("Add the repository");
  expect(refused.querySelector("#new-build [name=repository]")?.getAttribute("value")).toBe(String(main));

  const page = await pageOf(firefox.get(`/appliance/${id}`));
  const form = page.querySelector("#problems form[action$='/software/repositories']");
  const fields = [...(form?.querySelectorAll("input") ?? [])].map((one): [string, string] => [
    one.getAttribute("name") ?? "",
    one.getAttribute("value") ?? "",
  ]);
  const answer = await firefox.post(form?.getAttribute("action") ?? "", Object.fromEntries(fields));
  expect(answer.status).toBe(303);
  expect((await issuesOf(tux, id)).filter(({ repository }) => repository !== undefined)).toEqual([]);
});

async function issuesOf(tux: Client, id: number): Promise<{ repository?: number }[]> {
  const answer = await tux.get(`/appliances/${id}/status`, { headers: { accept: "application/json" } });
  return (await answer.json<{ status: { issues: { repository?: number }[] } }>()).status.issues;
}
