import { Moment } from "../../parts/moment.tsx";
import { Facts, Panel } from "../../parts/panel.tsx";
import type { Overview } from "./overview-seen.ts";
import { applianceAt } from "./with-appliance.ts";

/** What the appliance is for, and where it comes from. */
export const About = ({ seen }: { seen: Overview }) => {
  const { look, configuration, readers, published, base, isOwn } = seen;
  const { appliance } = look;
  return (
    <Panel
      id="about"
      title="About"
      look="stack"
      hint={isOwn && <a href={applianceAt(appliance.id, "configuration/general")}>Change</a>}
    >
      {configuration.description === "" ? (
        <p class="quiet">There is no description.</p>
      ) : (
        <p class="breaks">{configuration.description}</p>
      )}
      <Facts
        of={[
          ["Based on", basedOn(base, appliance.parentName)],
          ["Architecture", appliance.arch],
          ["Changed", <Moment at={appliance.lastEditedAt} />],
          ["Shared with", readers.join(", ")],
          ["In the gallery", published && <a href={`/gallery/${appliance.id}/${published}`}>{published}</a>],
          ["Tags", configuration.tags.join(", ")],
        ]}
      />
    </Panel>
  );
};

/** The names of templates begin with their base. */
const basedOn = (base: string, parent: string | null): string =>
  parent === null || parent.startsWith(base) ? (parent ?? base) : `${base}, ${parent}`;
