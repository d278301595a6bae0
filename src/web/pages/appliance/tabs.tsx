import type { WatchedBuild } from "#domain/builds/build";
import type { Appliance } from "#storage/appliances";
import { Icon } from "../../parts/icon.tsx";
import type { IconName } from "../../parts/icon-names.ts";
import { State } from "../../parts/state.tsx";
import { applianceAt } from "./with-appliance.ts";

export type Tab = "overview" | "software" | "configuration" | "files" | "build" | "share";

const tabs: readonly { name: Tab; path: string; words: string; icon: IconName }[] = [
  { name: "overview", path: "", words: "Overview", icon: "house" },
  { name: "software", path: "software", words: "Software", icon: "package" },
  { name: "configuration", path: "configuration", words: "Configuration", icon: "settings-2" },
  { name: "files", path: "files", words: "Files", icon: "folder" },
  { name: "build", path: "build", words: "Build", icon: "hammer" },
  { name: "share", path: "share", words: "Share", icon: "share-2" },
];

interface TabsProps {
  appliance: Appliance;
  tab: Tab;
  running: readonly WatchedBuild[];
}

/** Links to the pages of an appliance. */
export const Tabs = ({ appliance, tab, running: [build] }: TabsProps) => (
  <nav class="tabs" aria-label={appliance.name}>
    <ul>
      {tabs.map(({ name, path, words, icon }) => (
        <li>
          <a href={applianceAt(appliance.id, path)} aria-current={name === tab ? "page" : undefined} id={`tab-${name}`}>
            <Icon name={icon} /> {words}
            {name === "build" && build?.state === "running" && (
              <>
                {" "}
                <State tone="busy">
                  <span class="num">{build.percent} %</span>
                </State>
              </>
            )}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);
