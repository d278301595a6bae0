import { stateOfRebuild, type RebuildState } from "#model/rebuild-state";
import type { Rebuilt } from "#lib/attest/rebuild";
import { isUnfinished, type Build } from "#storage/builds";
import { ActionButton } from "../../../parts/button.tsx";
import { Moment } from "../../../parts/moment.tsx";
import type { Tone } from "../../../parts/notice.tsx";
import { State } from "../../../parts/state.tsx";
import { Table } from "../../../parts/table.tsx";
import { applianceAt } from "../with-appliance.ts";
import type { Builds } from "./shown-builds.ts";
import { nameOf } from "./names.ts";

interface RebuildsProps {
  build: Build;
  seen: Builds;
}

/** The rebuilds of an image, newest first. */
const rebuildsOf = ({ build, seen }: RebuildsProps): Build[] =>
  seen.rebuilds.filter(({ rebuildOf }) => rebuildOf === build.id);

/** The part of the page that changes while an image is built again. */
export const idOfRebuilds = (buildId: number): string => `rebuilds-${buildId}`;

/** Whether there are signed statements about the rebuilds of an image. */
export const isAttested = (build: Build, seen: Builds): boolean =>
  rebuildsOf({ build, seen }).some(({ rebuiltStatement }) => rebuiltStatement !== null);

/** The rebuilds of an image, and a button for another one. */
export const Rebuilds = ({ build, seen }: RebuildsProps) => {
  const all = rebuildsOf({ build, seen });
  const running = all.find(isUnfinished);
  const different = all.find(({ rebuilt }) => rebuilt?.isSame === false);
  const at = applianceAt(seen.applianceId, `builds/${build.id}/rebuilds`);
  const about = `of ${nameOf(build)}`;
  return (
    <section class="use stack-s" id={idOfRebuilds(build.id)} aria-label={`Rebuilds ${about}`}>
      <div class="row">
        <h3 class="as-label">Rebuilds</h3>
        {running ? (
          <ActionButton action={`${at}/cancel`} look="small plain" about={`the rebuild ${about}`}>
            Cancel
          </ActionButton>
        ) : (
          <ActionButton action={at} fields={{}} once look="small" icon="rotate-cw" about={about}>
            {all.length === 0 ? "Build again and compare" : "Build again"}
          </ActionButton>
        )}
      </div>
      {all.length > 0 && (
        <ul class="stack-s">
          {all.map((rebuild) => (
            <li class="row">
              <RebuildState of={rebuild} /> <span class="quiet">{wordsOf(rebuild)}</span>{" "}
              <span class="quiet">
                <Moment at={rebuild.completedAt ?? rebuild.createdAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {different?.rebuilt && <Differences of={different.rebuilt} about={about} />}
    </section>
  );
};

const states: Readonly<Record<RebuildState, [tone: Tone, words: string]>> = {
  queued: ["busy", "waiting for a builder"],
  running: ["busy", "running"],
  same: ["good", "same bytes"],
  differs: ["warn", "differs"],
  failed: ["warn", "could not be built"],
  cancelled: ["warn", "cancelled"],
};

const RebuildState = ({ of: rebuild }: { of: Build }) => {
  const [tone, words] = states[stateOfRebuild(rebuild)];
  return <State tone={tone}>{words}</State>;
};

function wordsOf({ status, rebuilt, message }: Build): string {
  if (rebuilt) return makers[String(rebuilt.byOther)] ?? "";
  return status === "failed" || status === "error" ? message : "";
}

const makers: Readonly<Record<string, string>> = {
  true: "by another builder",
  false: "by the builder that made the image",
};

/** A mark in the line of an image whose last rebuild has ended with an image. */
export const RebuildMark = (props: RebuildsProps) => {
  const last = rebuildsOf(props).find(({ rebuilt }) => rebuilt !== null);
  if (!last) return null;
  return last.rebuilt?.isSame ? (
    <State tone="good">rebuilt, same bytes</State>
  ) : (
    <State tone="warn">rebuild differs</State>
  );
};

const Differences = ({ of: { differences, hasMore, sameBytes }, about }: { of: Rebuilt; about: string }) => {
  if (!differences) return <p class="hint">Nothing is stored that could say which files differ.</p>;
  if (differences.length === 0)
    return (
      <p class="hint">
        All files are the same. What differs is outside of them: the file system, the partition table, the boot loader,
        or the packing.
      </p>
    );
  return (
    <>
      {sameBytes && <p class="hint">The bytes are the same. One of the builders reports other files or packages.</p>}
      <Table label={`What differs in a rebuild ${about}`} isCards columns={["File or package", "Differs"]}>
        {differences.map(({ path, change, what }) => (
          <tr>
            <th scope="row" class="breaks">
              {path}
            </th>
            <td data-label="Differs">{change === "changed" ? what.join(", ") : changes[change]}</td>
          </tr>
        ))}
      </Table>
      {hasMore && <p class="hint">There are more.</p>}
    </>
  );
};

const changes = { added: "only in the rebuild", removed: "only in the image" } as const;
