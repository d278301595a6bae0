import type { Trouble } from "#domain/operation/health";
import type { Snapshot } from "#domain/operation/snapshot";
import type { AgentAtWork, WaitingBuild } from "#domain/service-overview";
import type { ReadOnlyMode } from "#domain/service-settings";
import type { NamedBuild } from "#storage/build-queue";
import type { Repository } from "#storage/repositories";
import { ActionButton } from "../../parts/button.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Notice } from "../../parts/notice.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Badge, State, TypeBadge } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { ago, counted, number, size } from "../../parts/words.ts";
import { AgentsPanel } from "./agents-panel.tsx";
import { RepositoriesPanel } from "./repositories-panel.tsx";
import { servicePath } from "./service-page.tsx";

export interface Seen {
  snapshot: Snapshot;
  /** Why work does not flow. */
  troubles: readonly Trouble[];
  agents: readonly AgentAtWork[];
  queue: readonly WaitingBuild[];
  failures: readonly NamedBuild[];
  catalogues: readonly { name: string; repositories: readonly Repository[] }[];
  /** Repositories of accounts. */
  troubled: readonly (Repository & { username: string })[];
  mode: ReadOnlyMode;
}

/** What the operator should look at, in a few words each. */
export function warningsOf({ troubles, agents, catalogues, mode }: Seen): string[] {
  const offline = agents.filter(({ isAlive }) => !isAlive).length;
  const full = agents.filter(({ isAlive, capabilities }) => isAlive && capabilities?.hasRoom === false).length;
  const broken = catalogues
    .flatMap(({ repositories }) => repositories)
    .filter(({ problem }) => problem !== null).length;
  return [
    troubles.length > 0 && counted(troubles.length, "trouble"),
    offline > 0 && `${counted(offline, "agent")} offline`,
    full > 0 && `${counted(full, "disk")} almost full`,
    broken > 0 && `${counted(broken, "repository", "repositories")} with a problem`,
    mode.on && "read-only",
  ].filter((words) => words !== false);
}

export const ServiceView = ({ seen }: { seen: Seen }) => (
  <>
    {seen.troubles.map(({ message }) => (
      <Notice tone="bad">{message}</Notice>
    ))}
    <Figures seen={seen} />
    <AgentsPanel agents={seen.agents} />
    <div class="split">
      <div class="stack">
        <QueuePanel queue={seen.queue} />
        <FailuresPanel failures={seen.failures} />
      </div>
      <div class="stack">
        <ReadOnlyPanel mode={seen.mode} />
        <RepositoriesPanel catalogues={seen.catalogues} troubled={seen.troubled} />
      </div>
    </div>
  </>
);

const dayMs = 24 * 60 * 60_000;

const Figures = ({ seen: { snapshot, agents, failures } }: { seen: Seen }) => {
  const { at, amounts, slots, counters } = snapshot;
  const { queuedSince } = amounts;
  const today = failures.filter(({ completedAt }) => completedAt && completedAt.getTime() > at - dayMs);
  const stored = counters.find(({ name }) => name === "storage_bytes")?.value;
  const figures = [
    { words: "Builds now", value: number(amounts.runningBuilds), more: `of ${slots.builds} slots` },
    {
      words: "Waiting",
      value: number(amounts.queuedBuilds),
      more: queuedSince !== null && `since ${ago(new Date(queuedSince), at)}`,
    },
    { words: "Testdrives", value: number(amounts.runningTestdrives), more: `of ${slots.testdrives}` },
    {
      words: "Failed in a day",
      value: number(today.length),
      more: `${today.filter(({ status }) => status === "error").length} by the service`,
    },
    { words: "Agents", value: number(agents.filter(({ isAlive }) => isAlive).length), more: `of ${agents.length}` },
    ...(stored === undefined ? [] : [{ words: "Stored by accounts", value: size(stored), more: false }]),
  ];
  return (
    <dl class="figures panel">
      {figures.map(({ words, value, more }) => (
        <div>
          <dt>{words}</dt>
          <dd>
            {value} {more && <small>{more}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
};

const QueuePanel = ({ queue }: { queue: readonly WaitingBuild[] }) => (
  <Panel id="queue" title="Queue" count={queue.length} isFlush>
    {queue.length === 0 ? (
      <p class="body quiet">No build waits.</p>
    ) : (
      <Table labelledBy="queue" columns={["Build", "Account", "Waits for", { words: "Since", isNumber: true }]}>
        {queue.map(({ name, version, imageType, username, why, createdAt }) => (
          <tr>
            <th scope="row">
              <span class="breaks">
                {name} {version}
              </span>{" "}
              <TypeBadge type={imageType} />
            </th>
            <td>{username}</td>
            <td>
              {why.includes("busy") ? (
                <span class="quiet">{reason(why)}</span>
              ) : (
                <State tone="bad">{reason(why)}</State>
              )}
            </td>
            <td class="num">
              <Moment at={createdAt} />
            </td>
          </tr>
        ))}
      </Table>
    )}
  </Panel>
);

/** "All builders are busy" */
function reason(why: string): string {
  const words = why.replace(/^Waiting: /, "");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const FailuresPanel = ({ failures }: { failures: readonly NamedBuild[] }) => (
  <Panel id="failures" title="Failed builds" hint="the latest 20" isFlush>
    {failures.length === 0 ? (
      <p class="body quiet">None has failed.</p>
    ) : (
      <ul class="rows tight">
        {failures.map(({ name, version, imageType, username, status, message, completedAt }) => (
          <li>
            <div class="line">
              {status === "error" ? <Badge tone="bad">service</Badge> : <Badge>appliance</Badge>}
              <span class="grow breaks">
                {name} {version}, {imageType} <span class="quiet">of {username}</span>
                <br />
                <span class="quiet">{message}</span>
              </span>
              {completedAt && (
                <span class="quiet">
                  <Moment at={completedAt} />
                </span>
              )}
            </div>
          </li>
        ))}
      </ul>
    )}
  </Panel>
);

const ReadOnlyPanel = ({ mode: { on, since } }: { mode: ReadOnlyMode }) => (
  <Panel id="read-only" title="Read-only" look="stack-s">
    <p class="small-text quiet">
      While it is on, everybody can browse and download. Nothing can be changed, and no build or testdrive starts.
      Running builds finish.
    </p>
    {on && since !== null && (
      <p>
        <State tone="warn">
          On since <Moment at={new Date(since)} />
        </State>
      </p>
    )}
    <ActionButton
      action={`${servicePath}/read_only`}
      fields={{ mode: on ? "off" : "on" }}
      icon={on ? "play" : "pause"}
      look={on ? "primary" : ""}
    >
      {on ? "Allow changes again" : "Make the service read-only"}
    </ActionButton>
  </Panel>
);
