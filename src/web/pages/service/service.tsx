import type { Context } from "hono";
import { z } from "zod";
import { pathId } from "#http/params";
import { note } from "#domain/accounts/audit";
import { setDrained } from "#domain/agent";
import { listCatalogues } from "#domain/appliances/template-set";
import { cancelAnyBuild } from "#domain/builds/build";
import { buildAgain } from "#domain/builds/start";
import { troublesOf } from "#domain/operation/health";
import { takeSnapshot } from "#domain/operation/snapshot";
import { importNow } from "#domain/repositories/repository";
import { listAgentsAtWork, listAtWork, listFailures, listQueue } from "#domain/service-overview";
import { readOnlyMode, setReadOnlyMode } from "#domain/service-settings";
import { listFailing } from "#storage/repositories";
import { auditedOperation } from "../../audited.ts";
import { factory, type WebEnv } from "../../factory.ts";
import { State } from "../../parts/state.tsx";
import { submit } from "../../submit.ts";
import { servicePage, servicePath, withOperator } from "./service-page.tsx";
import { ServiceView, warningsOf, type Seen } from "./view.tsx";

const maxFailing = 20;
const Draining = z.object({ agent: z.string(), drained: z.enum(["yes", "no"]) });
const Mode = z.object({ mode: z.enum(["on", "off"]), message: z.string().max(300).default("") });
const oneBuild = `${servicePath}/builds/:build{\\d{1,15}}`;

/** The current work of the service, and its problems. */
export const serviceOverview = factory
  .createApp()
  .use(`${servicePath}/*`, ...withOperator)
  .get(servicePath, (c) => showService(c))
  .post(`${servicePath}/agents`, (c) =>
    submit(c, {
      fields: Draining,
      evenReadOnly: true,
      again: showService,
      act: async ({ agent, drained }) => {
        const isDrained = drained === "yes";
        const event = isDrained ? "agent.drained" : "agent.resumed";
        const acting = auditedOperation(c, { event, detail: { agent } });
        await setDrained({ env: c.env, db: c.var.db }, acting, { name: agent, isDrained });
        const text = isDrained ? `${agent} gets no new work.` : `${agent} gets work again.`;
        return { to: servicePath, result: { text } };
      },
    }),
  )
  .post(`${servicePath}/read_only`, (c) =>
    submit(c, {
      fields: Mode,
      evenReadOnly: true,
      again: showService,
      act: async ({ mode, message }) => {
        await setReadOnlyMode(c.var.db, { on: mode === "on", message });
        await noteCall(c, `read-only ${mode}`);
        const text = mode === "on" ? "The service is read-only now." : "The service can be changed again.";
        return { to: servicePath, result: { text } };
      },
    }),
  )
  .post(`${oneBuild}/cancel`, (c) =>
    submit(c, {
      evenReadOnly: true,
      again: showService,
      act: async () => {
        const id = pathId(c, "build", "invalid_running_build_id");
        await cancelAnyBuild({ env: c.env, db: c.var.db }, id);
        await noteCall(c, `cancel build ${id}`);
        return { to: servicePath, result: { text: "The build is cancelled." } };
      },
    }),
  )
  .post(`${oneBuild}/again`, (c) =>
    submit(c, {
      again: showService,
      act: async () => {
        const id = pathId(c, "build", "invalid_build_id");
        const { version, imageType } = await buildAgain({ env: c.env, db: c.var.db }, id, c.var.baseUrl);
        await noteCall(c, `build ${id} again`);
        return { to: servicePath, result: { text: `The build of ${version} ${imageType} has started.` } };
      },
    }),
  )
  .post(`${servicePath}/repositories/:repository{\\d{1,15}}/import`, (c) =>
    submit(c, {
      again: showService,
      act: async () => {
        const id = pathId(c, "repository", "invalid_repository_id");
        const { name } = await importNow({ env: c.env, db: c.var.db }, id);
        await noteCall(c, `import repository ${id}`);
        return { to: servicePath, result: { text: `${name.slice(0, 400)} is read again now.` } };
      },
    }),
  );

/** An operator's action that no other entry of the audit log records. */
const noteCall = (c: Context<WebEnv>, call: string): Promise<void> =>
  note(c.var.db, { event: "operator.called", actor: "operator", detail: { call, operator: c.var.account.username } });

async function showService(c: Context<WebEnv>): Promise<Response> {
  const { db } = c.var;
  const services = { env: c.env, db };
  const [snapshot, agents, queue, running, failures, catalogues, failing, mode] = await Promise.all([
    takeSnapshot(services),
    listAgentsAtWork(services),
    listQueue(services),
    listAtWork(db),
    listFailures(db),
    listCatalogues(db),
    listFailing(db, maxFailing),
    readOnlyMode(db),
  ]);
  const seen: Seen = {
    snapshot,
    agents,
    queue,
    running,
    failures,
    catalogues,
    failing,
    mode,
    troubles: troublesOf(snapshot),
  };
  const warnings = warningsOf(seen);
  const state = (
    <p role="status">
      <State tone={warnings.length === 0 ? "good" : "warn"} isChip>
        {warnings.length === 0 ? "All is well" : warnings.join(", ")}
      </State>
    </p>
  );
  return await servicePage(c, <ServiceView seen={seen} />, { title: "Service", tab: servicePath, state });
}
