import type { Trouble } from "#domain/operation/health";
import type { Snapshot } from "#domain/operation/snapshot";
import type { AgentAtWork, WaitingBuild } from "#domain/service-overview";
import type { ReadOnlyMode } from "#domain/service-settings";
import type { NamedBuild } from "#storage/build-queue";
import type { Repository } from "#storage/repositories";
import { ActionButton, Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";
import { Form, Hidden } from "../../parts/form.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Notice } from "../../parts/notice.tsx";
import { Panel } from "../../parts/panel.tsx";
import { State } from "../../parts/state.tsx";
import { ago, counted, number, size } from "../../parts/words.ts";
import { AgentsPanel } from "./agents-panel.tsx";
import { FailuresPanel, QueuePanel, RunningPanel } from "./builds-panels.tsx";
import { RepositoriesPanel } from "./repositories-panel.tsx";
import { servicePath } from "./service-page.tsx";

export interface Seen {
  snapshot: Snapshot;
  /** Reasons why the service makes no progress. */
  troubles: readonly Trouble[];
  agents: readonly AgentAtWork[];
  queue: readonly WaitingBuild[];
  running: readonly NamedBuild[];
  failures: readonly NamedBuild[];
  catalogues: readonly { name: string; repositories: readonly Repository[] }[];
  /** The accounts' repositories that have a problem. */
  failing: readonly (Repository & { username: string })[];
  mode: ReadOnlyMode;
}

/** The problems that need the operator's attention, in a few words each. */
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
        <RunningPanel running={seen.running} agents={seen.agents} />
        <FailuresPanel failures={seen.failures} />
      </div>
      <div class="stack">
        <ReadOnlyPanel mode={seen.mode} />
        <RepositoriesPanel catalogues={seen.catalogues} failing={seen.failing} />
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
      more: today.length > 0 && `${today.filter(({ status }) => status === "error").length} by the service`,
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

const ReadOnlyPanel = ({ mode: { on, since, message } }: { mode: ReadOnlyMode }) => (
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
    <Form action={readOnlyPath} id="read-only-on" class="stack-s">
      <Hidden fields={{ mode: "on" }} />
      <Field
        name="message"
        label="Message on every page"
        value={message ?? ""}
        hint="Empty: a message that nothing can be changed at the moment."
        also={{ maxlength: 300 }}
      />
      <div class="row">
        <Button {...(!on && { icon: "pause" })}>{on ? "Save the message" : "Make the service read-only"}</Button>
      </div>
    </Form>
    {on && (
      <ActionButton action={readOnlyPath} fields={{ mode: "off" }} icon="play" look="primary">
        Allow changes again
      </ActionButton>
    )}
  </Panel>
);

const readOnlyPath = `${servicePath}/read_only`;
