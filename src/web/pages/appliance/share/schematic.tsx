import { contentAddress } from "#documents/schematic";
import type { Schematic } from "#domain/schematics/schematic";
import { CopyButton } from "../../../parts/button.tsx";
import { Panel } from "../../../parts/panel.tsx";

/** The content address of an appliance that was made from a schematic. */
export const SchematicPanel = ({ schematic, baseUrl }: { schematic: Schematic; baseUrl: string }) => (
  <Panel id="schematic" title="Address of its definition" look="stack">
    <p class="quiet">
      With your key, this address builds the image and leads to it. It ends when you change the appliance.
    </p>
    <div class="row">
      <span class="breaks mono small-text" id="content-address">
        {baseUrl + contentAddress(schematic)}
      </span>
      <CopyButton of="content-address" words="Copy" look="small plain" about="the address of the definition" />
    </div>
    {schematic.days.length > 0 && (
      <p class="sub">
        Instead of <code>current</code>, use a day:{" "}
        {schematic.days.map(({ from, to }) => periodOf(from, to)).join(", ")}.
      </p>
    )}
  </Panel>
);

const periodOf = (from: string, to: string): string => (from === to ? from : `${from} to ${to}`);
