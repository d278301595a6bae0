import type { Context } from "hono";
import { z } from "zod";
import { setDuty } from "#domain/agent";
import { listCatalogues } from "#domain/appliances/template-set";
import { troublesOf } from "#domain/operation/health";
import { takeSnapshot } from "#domain/operation/snapshot";
import { listAgentsAtWork, listFailures, listQueue } from "#domain/service-overview";
import { readOnlyMode, setReadOnlyMode } from "#domain/service-settings";
import { listTroubled } from "#storage/troubled-repositories";
import { auditedOperation } from "../../audited.ts";
import { factory, type WebEnv } from "../../factory.ts";
import { State } from "../../parts/state.tsx";
import { submit } from "../../submit.ts";
import { note } from "#domain/accounts/audit";
import { servicePage, servicePath, withOperator } from "./service-page.tsx";
import { ServiceView, warningsOf, type Seen } from "./view.tsx";

const mostTroubled = 20;
const Duty = z.object({ agent: z.string(), duty: z.enum(["working", "drained"]) });
const Mode = z.object({ mode: z.enum(["on", "off"]) });

/** What the service does at the moment, and what is wrong with it. */
export const serviceOverview = factory
  .createApp()
  .use(servicePath, ...withOperator)
  .use(`${servicePath}/*`, ...withOperator)
  .get(servicePath, (c) => showService(c))
  .post(`${servicePath}/agents`, (c) =>
    submit(c, {
      fields: Duty,
      evenReadOnly: true,
      again: showService,
      act: async ({ agent, duty }) => {
        const event = duty === "drained" ? "agent.drained" : "agent.resumed";
        await setDuty(auditedOperation(c, { event, detail: { agent } }), agent, duty);
        const text = duty === "drained" ? `${agent} gets no new work.` : `${agent} gets work again.`;
        return { to: servicePath, result: { text } };
      },
    }),
  )
  .post(`${servicePath}/read_only`, (c) =>
    submit(c, {
      fields: Mode,
      evenReadOnly: true,
      again: showService,
      act: async ({ mode }) => {
        await setReadOnlyMode(c.var.db, mode === "on");
        const detail = { call: `read-only ${mode}`, operator: c.var.account.username };
        await note(c.var.db, { event: "operator.called", actor: "operator", detail });
        const text = mode === "on" ? "The service is read-only now." : "The service can be changed again.";
        return { to: servicePath, result: { text } };
      },
    }),
  );

async function showService(c: Context<WebEnv>): Promise<Response> {
  const { db } = c.var;
  const place = { env: c.env, db };
  const [snapshot, agents, queue, failures, catalogues, troubled, mode] = await Promise.all([
    takeSnapshot(place),
    listAgentsAtWork(place),
    listQueue(place),
    listFailures(db),
    listCatalogues(db),
    listTroubled(db, mostTroubled),
    readOnlyMode(db),
  ]);
  const seen: Seen = { snapshot, agents, queue, failures, catalogues, troubled, mode, troubles: troublesOf(snapshot) };
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
