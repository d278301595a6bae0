import { ActionButton, ButtonLink } from "../../../parts/button.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Moment } from "../../../parts/moment.tsx";
import { applianceAt } from "../with-appliance.ts";
import { secondsBetween } from "#domain/builds/progress";
import { duration } from "../../../parts/words.ts";
import type { Builds } from "./shown-builds.ts";
import { lastOf } from "./ended.tsx";
import { logAt } from "./names.ts";
import { lastStage } from "./stages.tsx";

/** Why the last build failed, if it did. */
export const LastFailure = ({ seen }: { seen: Builds }) => {
  const last = lastOf(seen);
  if (!last || (last.status !== "failed" && last.status !== "error")) return null;
  const { version, imageType, completedAt, createdAt, startedAt, message, steps } = last;
  const stage = lastStage(steps);
  const seconds = secondsBetween(startedAt?.getTime() ?? null, completedAt?.getTime() ?? 0);
  return (
    <section class="notice" data-tone="bad" aria-labelledby="failed-title">
      <Icon name="circle-x" />
      <div>
        <h2 class="as-h3" id="failed-title">
          {version} {imageType} failed <Moment at={completedAt ?? createdAt} />
          {stage && `, at ${stage}, after ${duration(seconds)}`}
        </h2>
        <p class="breaks">{message}</p>
        <div class="solutions">
          <ActionButton
            action={applianceAt(seen.applianceId, "builds")}
            fields={{ image_type: imageType, version, again: "true" }}
            once
            look="small"
            icon="rotate-cw"
          >
            Build again
          </ActionButton>
          <ButtonLink href={logAt(last)} look="small plain" icon="scroll-text">
            Log
          </ButtonLink>
        </div>
      </div>
    </section>
  );
};
