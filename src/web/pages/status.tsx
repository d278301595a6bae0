import type { Context } from "hono";
import { troublesOf, type Trouble } from "#domain/operation/health";
import { recentSnapshot, type Snapshot } from "#domain/operation/snapshot";
import { readOnlyMessage, readOnlyMode } from "#domain/service-settings";
import { logFailure } from "#log/log";
import { factory, type WebEnv } from "../factory.ts";
import { page } from "../page.tsx";
import { Content } from "../parts/column.tsx";
import { Moment } from "../parts/moment.tsx";
import { Notice } from "../parts/notice.tsx";
import { Facts, Panel } from "../parts/panel.tsx";
import { counted, duration } from "../parts/words.ts";

const title = "Status";

/** Whether the service works, for everyone. It names no account, no agent and no address. */
export const statusPage = factory.createApp().get("/status", async (c) => {
  const seen = await look(c);
  const options = { title, section: "service", refreshSeconds: 60, status: seen ? 200 : 503 } as const;
  return await page(c, <Status seen={seen} />, options);
});

interface Seen {
  now: Snapshot;
  isReadOnly: boolean;
}

/** Undefined if the database does not answer. */
async function look(c: Context<WebEnv>): Promise<Seen | undefined> {
  try {
    const [now, { on }] = await Promise.all([recentSnapshot({ env: c.env, db: c.var.db }), readOnlyMode(c.var.db)]);
    return { now, isReadOnly: on };
  } catch (error) {
    logFailure("the status cannot be read", error);
    return undefined;
  }
}

const Status = ({ seen }: { seen: Seen | undefined }) => (
  <Content look="narrow stack">
    <h1>{title}</h1>
    {seen ? <Works {...seen} /> : <Notice tone="bad">The database does not answer. API and pages do not work.</Notice>}
  </Content>
);

const Works = ({ now, isReadOnly }: Seen) => {
  const troubles = troublesOf(now);
  return (
    <div class="stack">
      {troubles.length === 0 ? (
        <Notice tone="good">Everything works.</Notice>
      ) : (
        troubles.map(({ code }) => <Notice tone="warn">{words[code]}</Notice>)
      )}
      {isReadOnly && <Notice tone="warn">{readOnlyMessage}</Notice>}
      <Panel id="parts" title="Parts of the service" hint={<Moment at={new Date(now.at)} />}>
        <Facts of={factsOf(now)} />
      </Panel>
    </div>
  );
};

const words: Record<Trouble["code"], string> = {
  no_agents: "Builds and testdrives wait: no builder is connected.",
  builds_wait: "Builds wait longer than usual.",
  sweep_late: "The service repairs itself later than usual. Builds, repositories and webhooks may be late.",
  imports_given_up: "The import of a repository failed within the last hour. Its last good state is used.",
  disk_full: "The disk of the service is full. Nothing can be changed or built.",
};

function factsOf({ at, amounts, agents }: Snapshot): [string, string][] {
  const { queuedBuilds, runningBuilds, queuedSince, waitingImports, sentImports } = amounts;
  const waits = queuedSince === null ? "" : `, the oldest for ${duration(Math.floor((at - queuedSince) / 1000))}`;
  return [
    ["API and pages", "work"],
    ["Builders", `${counted(agents.filter(({ isAlive }) => isAlive).length, "builder")} connected`],
    ["Builds", `${runningBuilds} running, ${queuedBuilds} waiting${waits}`],
    ["Testdrives", `${amounts.runningTestdrives} running`],
    ["Imports of repositories", `${sentImports} running, ${waitingImports} waiting`],
  ];
}
