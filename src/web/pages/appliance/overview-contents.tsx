import type { Child } from "hono/jsx";
import type { Configuration } from "#lib/configuration/stored";
import { Icon } from "../../parts/icon.tsx";
import type { IconName } from "../../parts/icon-names.ts";
import { Panel } from "../../parts/panel.tsx";
import { counted, size } from "../../parts/words.ts";
import type { Overview } from "./overview-seen.ts";
import { applianceAt } from "./with-appliance.ts";

/** The parts of the appliance, with links to their pages. */
export const Contents = ({ seen }: { seen: Overview }) => {
  const { configuration, files, look } = seen;
  const at = (tab: string) => (seen.isOwn ? applianceAt(look.appliance.id, tab) : undefined);
  return (
    <Panel id="what" title="Contents" isFlush>
      <ul class="rows tight">
        <Part
          icon="package"
          to={at("software")}
          title="Software"
          end={`about ${size(look.appliance.estimatedRawMb * 1024 ** 2)}`}
        >
          {softwareWords(seen)}
        </Part>
        <Part icon="globe" to={at("configuration/network")} title="Language and network">
          {networkWords(configuration)}
        </Part>
        <Part icon="users" to={at("configuration/users")} title="Users">
          {configuration.users.length === 0 ? "none" : configuration.users.map(({ name }) => name).join(", ")}
        </Part>
        <Part icon="folder" to={at("files")} title="Files" end={files.count === 0 ? undefined : size(files.bytes)}>
          {files.count === 0 ? "none" : counted(files.count, "file")}
        </Part>
      </ul>
    </Panel>
  );
};

interface PartProps {
  icon: IconName;
  to: string | undefined;
  title: string;
  end?: string | undefined;
  children: Child;
}

const Part = ({ icon, to, title, end, children }: PartProps) => (
  <li>
    <div class="line">
      <Icon name={icon} />
      <span class="grow">
        {to === undefined ? title : <a href={to}>{title}</a>}
        <br />
        <span class="quiet">{children}</span>
      </span>
      {end !== undefined && <span class="num">{end}</span>}
    </div>
  </li>
);

function softwareWords({ selection, repositories, look: { packages } }: Overview): string {
  const selected = (kind: string) => selection.filter((each) => each.kind === kind).length;
  const chosen = ["package", "pattern"].flatMap((kind) => (selected(kind) > 0 ? [counted(selected(kind), kind)] : []));
  const what = chosen.length === 0 ? "Nothing" : chosen.join(" and ");
  const all = packages === null ? "" : `; ${counted(packages, "package")} with dependencies`;
  return `${what} selected${all}, from ${counted(repositories, "repository", "repositories")}`;
}

const networkKinds: Readonly<Record<Configuration["network"]["type"], string>> = {
  dhcp: "DHCP",
  manual: "fixed address",
  ask_on_first_boot: "asks on first boot",
  network_manager: "NetworkManager",
  none: "no network",
};

function networkWords({ locale, network, firewall }: Configuration): string {
  const ports = firewall.openPorts.length === 0 ? "" : `, ports ${firewall.openPorts.join(", ")}`;
  const state = firewall.enabled ? `firewall on${ports}` : "firewall off";
  return [locale.language, locale.timezone, networkKinds[network.type], state].filter(Boolean).join(", ");
}
