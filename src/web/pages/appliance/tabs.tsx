import type { Child } from "hono/jsx";
import type { WatchedBuild } from "#domain/builds/build";
import type { Appliance } from "#storage/appliances";
import { Icon } from "../../parts/icon.tsx";
import type { IconName } from "../../parts/icon-names.ts";
import { State } from "../../parts/state.tsx";
import { applianceAt } from "./with-appliance.ts";

export type Tab = "overview" | "software" | "configuration" | "files" | "build" | "share";

interface Link {
  name: Tab;
  path: string;
  words: string;
  icon: IconName;
}

const buildLink: Link = { name: "build", path: "build", words: "Build", icon: "hammer" };
const links: readonly Link[] = [
  { name: "overview", path: "", words: "Overview", icon: "house" },
  { name: "software", path: "software", words: "Software", icon: "package" },
  { name: "configuration", path: "configuration", words: "Configuration", icon: "settings-2" },
  { name: "files", path: "files", words: "Files", icon: "folder" },
  buildLink,
  { name: "share", path: "share", words: "Share", icon: "share-2" },
];

interface TabsProps {
  appliance: Appliance;
  tab: Tab;
  running: readonly WatchedBuild[];
}

/** Links to the pages of an appliance. */
export const Tabs = ({ appliance, tab, running }: TabsProps) => (
  <nav class="tabs" aria-label={appliance.name}>
    <ul>
      {links.map((link) => (
        <li>
          {link === buildLink ? (
            <BuildTab {...{ appliance, tab, running }} />
          ) : (
            <TabLink {...{ appliance, tab, link }} />
          )}
        </li>
      ))}
    </ul>
  </nav>
);

/** The link to the builds, which shows how far the first one is. */
export const BuildTab = ({ appliance, tab, running: [build] }: TabsProps) => (
  <TabLink {...{ appliance, tab, link: buildLink }}>
    {build?.state === "running" && (
      <>
        {" "}
        <State tone="busy">
          <span class="num">{build.percent} %</span>
        </State>
      </>
    )}
  </TabLink>
);

interface TabLinkProps extends Pick<TabsProps, "appliance" | "tab"> {
  link: Link;
  children?: Child;
}

const TabLink = ({ appliance, tab, link: { name, path, words, icon }, children }: TabLinkProps) => (
  <a href={applianceAt(appliance.id, path)} aria-current={name === tab ? "page" : undefined} id={`tab-${name}`}>
    <Icon name={icon} /> {words}
    {children}
  </a>
);
