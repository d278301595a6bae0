import { fileSystems, type Capabilities } from "#lib/contract/index";
import type { AgentAtWork } from "#domain/service-overview";
import { ActionButton } from "../../parts/button.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Badge, State } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { number } from "../../parts/words.ts";
import { servicePath } from "./service-page.tsx";

const columns = [
  "Agent",
  "State",
  "Abilities",
  { words: "Builds", isNumber: true },
  { words: "Testdrives", isNumber: true },
  { words: "Load", isNumber: true },
  { words: "Disk free", isNumber: true },
  "Seen",
  { words: "Actions", isHidden: true },
] as const;

export const AgentsPanel = ({ agents }: { agents: readonly AgentAtWork[] }) => (
  <Panel id="agents" title="Agents" count={agents.length} isFlush>
    {agents.length === 0 ? (
      <p class="body quiet">
        No agent is registered, so nothing can be built. <code>npm run admin -- agent add NAME</code> adds one.
      </p>
    ) : (
      <Table labelledBy="agents" columns={columns} isCards>
        {agents.map((agent) => (
          <Row agent={agent} />
        ))}
      </Table>
    )}
  </Panel>
);

const Row = ({ agent }: { agent: AgentAtWork }) => {
  const { name, capabilities, builds, testdrives, report, heardAt, drainedAt } = agent;
  return (
    <tr>
      <th scope="row">
        {name}
        {capabilities && (
          <>
            <br />
            <span class="sub">KIWI {capabilities.builder}</span>
          </>
        )}
      </th>
      <td>
        <StateOf agent={agent} />
      </td>
      <td>
        <span class="abilities">
          {capabilities ? abilitiesOf(capabilities).map((each) => <Badge>{each}</Badge>) : "not known yet"}
        </span>
      </td>
      <td class="num" data-label="builds">
        {report ? ofSlots(builds, report.slots.builds) : builds}
      </td>
      <td class="num" data-label="testdrives">
        {report ? `${testdrives} of ${report.slots.testdrives}` : testdrives}
      </td>
      <td class="num" data-label="load">
        {report ? `${report.load} %` : "–"}
      </td>
      <td class="num" data-label="disk free">
        {report ? `${number(report.freeGb)} GB` : "–"}
      </td>
      <td class="quiet" data-label="seen">
        {heardAt ? <Moment at={heardAt} /> : "never"}
      </td>
      <td class="actions">
        <ActionButton
          action={`${servicePath}/agents`}
          fields={{ agent: name, drained: drainedAt ? "no" : "yes" }}
          look="small"
          icon={drainedAt ? "play" : "pause"}
          about={name}
        >
          {drainedAt ? "Give work again" : "Drain"}
        </ActionButton>
      </td>
    </tr>
  );
};

const StateOf = ({ agent: { isAlive, drainedAt, capabilities, builds, testdrives } }: { agent: AgentAtWork }) => {
  if (!isAlive) return <State tone="bad">Offline</State>;
  if (drainedAt) return <State icon="pause">{builds + testdrives > 0 ? "Draining" : "Drained"}</State>;
  if (capabilities?.hasRoom === false) return <State tone="warn">Disk almost full</State>;
  return <State tone="good">{builds + testdrives > 0 ? "At work" : "Ready"}</State>;
};

function abilitiesOf(can: Capabilities): string[] {
  const { arches, isolation, testdrives, packageTypes = ["rpm"], noLvm, noEfi, noFileSystem, roots = [] } = can;
  return [
    ...arches,
    ...packageTypes,
    ...(noLvm === undefined ? ["LVM"] : []),
    ...(noEfi === undefined ? ["UEFI"] : []),
    ...fileSystems.filter((name) => noFileSystem?.[name] === undefined),
    ...(isolation === "vm" ? ["guest"] : []),
    ...(testdrives ? ["testdrives"] : []),
    ...roots.map(({ name }) => `root ${name}`),
  ];
}

/** Builds of an agent that only upload take no slot. */
const ofSlots = (builds: number, slots: number): string =>
  builds > slots ? `${slots} of ${slots}, ${builds - slots} uploading` : `${builds} of ${slots}`;
