import type { SharedAppliance } from "#storage/shares";
import { ActionButton } from "../../parts/button.tsx";
import { Picture } from "../../parts/picture.tsx";
import { State } from "../../parts/state.tsx";
import { pictureOf } from "../appliance/pictures.ts";
import { applianceAt } from "../appliance/with-appliance.ts";

/** An appliance that another account shares. It can be viewed and cloned. */
export const SharedRow = ({ appliance, base }: { appliance: SharedAppliance; base: string }) => (
  <li>
    <span></span>
    <Picture src={pictureOf(appliance)} look="small" />
    <div>
      <h3>
        <a href={applianceAt(appliance.id)}>{appliance.name}</a>
      </h3>
      <p class="sub">
        {appliance.version} · {base}, {appliance.arch}
      </p>
    </div>
    <div class="at">
      <State icon="eye">You can view and clone</State>
    </div>
    <div class="at">
      <span class="small-text">by {appliance.owner}</span>
    </div>
    <div class="quick">
      <ActionButton
        action="/appliances"
        fields={{ clone_from: appliance.id, arch: appliance.arch }}
        once
        look="small"
        icon="copy"
        about={`: ${appliance.name}`}
      >
        <span class="words">Clone</span>
      </ActionButton>
    </div>
  </li>
);
