import { ActionButton, ButtonLink } from "../../../parts/button.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Moment } from "../../../parts/moment.tsx";
import { applianceAt } from "../with-appliance.ts";
import type { Builds } from "./image.tsx";

/** Why the last build failed, if it did. */
export const LastFailure = ({ seen: { applianceId, over } }: { seen: Builds }) => {
  const [last] = over;
  if (!last || (last.status !== "failed" && last.status !== "error")) return null;
  const { id, version, imageType, completedAt, createdAt, message } = last;
  return (
    <section class="notice" data-tone="bad" aria-labelledby="failed-title">
      <Icon name="circle-x" />
      <div>
        <h2 class="as-h3" id="failed-title">
          {version} {imageType} failed <Moment at={completedAt ?? createdAt} />
        </h2>
        <p class="breaks">{message}</p>
        <div class="solutions">
          <ActionButton
            action={applianceAt(applianceId, "builds")}
            fields={{ image_type: imageType, version }}
            once
            look="small"
            icon="rotate-cw"
          >
            Build again
          </ActionButton>
          <ButtonLink href={`/builds/${id}/log`} look="small plain" icon="scroll-text">
            Log
          </ButtonLink>
        </div>
      </div>
    </section>
  );
};
