import type { AgentAtWork, WaitingBuild } from "#domain/service-overview";
import type { NamedBuild } from "#storage/build-queue";
import { ActionButton } from "../../parts/button.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Badge, State, TypeBadge } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { servicePath } from "./service-page.tsx";

const actions = { words: "Actions", isHidden: true } as const;

export const QueuePanel = ({ queue }: { queue: readonly WaitingBuild[] }) => (
  <Panel id="queue" title="Queue" count={queue.length} isFlush>
    {queue.length === 0 ? (
      <p class="body quiet">No build waits.</p>
    ) : (
      <Table
        labelledBy="queue"
        columns={["Build", "Account", "Waits for", { words: "Since", isNumber: true }, actions]}
        isCards
      >
        {queue.map((build) => (
          <tr>
            <Name build={build} />
            <td data-label="of">{build.username}</td>
            <td>
              {build.why.includes("busy") ? (
                <span class="quiet">{reason(build.why)}</span>
              ) : (
                <State tone="bad">{reason(build.why)}</State>
              )}
            </td>
            <td class="num" data-label="since">
              <Moment at={build.createdAt} />
            </td>
            <Cancel build={build} />
          </tr>
        ))}
      </Table>
    )}
  </Panel>
);

/** The running builds. Without any, the panel is omitted. */
export const RunningPanel = ({ running, agents }: { running: readonly NamedBuild[]; agents: readonly AgentAtWork[] }) =>
  running.length === 0 ? null : (
    <Panel id="running" title="Being built" count={running.length} isFlush>
      <Table
        labelledBy="running"
        columns={["Build", "Account", "Agent", { words: "Since", isNumber: true }, actions]}
        isCards
      >
        {running.map((build) => (
          <tr>
            <Name build={build} />
            <td data-label="of">{build.username}</td>
            <td data-label="on">{agents.find(({ id }) => id === build.agentId)?.name}</td>
            <td class="num" data-label="since">
              <Moment at={build.startedAt ?? build.createdAt} />
            </td>
            <Cancel build={build} />
          </tr>
        ))}
      </Table>
    </Panel>
  );

const nameOf = ({ name, version, imageType }: NamedBuild): string => `${name} ${version} ${imageType}`;

const Name = ({ build: { name, version, imageType } }: { build: NamedBuild }) => (
  <th scope="row">
    <span class="breaks">
      {name} {version}
    </span>{" "}
    <TypeBadge type={imageType} />
  </th>
);

const Cancel = ({ build }: { build: NamedBuild }) => (
  <td class="actions">
    <ActionButton action={`${servicePath}/builds/${build.id}/cancel`} look="small plain" about={nameOf(build)}>
      Cancel
    </ActionButton>
  </td>
);

/** "All builders are busy" */
function reason(why: string): string {
  const words = why.replace(/^Waiting: /, "");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const FailuresPanel = ({ failures }: { failures: readonly NamedBuild[] }) => (
  <Panel id="failures" title="Failed builds" hint="the latest 20" isFlush>
    {failures.length === 0 ? (
      <p class="body quiet">None has failed.</p>
    ) : (
      <ul class="rows tight">
        {failures.map((build) => (
          <Failure build={build} />
        ))}
      </ul>
    )}
  </Panel>
);

const Failure = ({ build }: { build: NamedBuild }) => {
  const { id, name, version, imageType, username, status, message, completedAt } = build;
  return (
    <li>
      <div class="line">
        {status === "error" ? <Badge tone="bad">service</Badge> : <Badge>appliance</Badge>}
        <span class="grow breaks">
          {name} {version}, {imageType} <span class="quiet">of {username}</span>
          <br />
          <span class="quiet">
            {message} {completedAt && <Moment at={completedAt} />}
          </span>
        </span>
        <ActionButton
          action={`${servicePath}/builds/${id}/again`}
          look="small"
          icon="rotate-cw"
          about={nameOf(build)}
          once
        >
          Build again
        </ActionButton>
      </div>
    </li>
  );
};
