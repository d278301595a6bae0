import type { Offer, OfferedVersion } from "#domain/repositories/offers";
import { bringsSecurityUpdates } from "#model/catalogue";
import { ActionButton, ButtonLink } from "../../../parts/button.tsx";
import { Badge, State } from "../../../parts/state.tsx";
import { counted, size } from "../../../parts/words.ts";
import { applianceAt } from "../with-appliance.ts";
import { EffectView } from "./effect-view.tsx";
import type { ShownSoftware } from "./shown.ts";
import { effectOrConflict } from "./words.ts";

interface HitProps {
  offer: Offer;
  seen: ShownSoftware;
}

/** A search hit, with the version that would be installed. */
export const Hit = ({ offer, seen }: HitProps) => {
  const { kind, name, best, others } = offer;
  const at = applianceAt(seen.appliance.id, "software");
  const { q, look } = seen.search;
  const isSelected = seen.software.selection.some((one) => one.kind === kind && one.name === name);
  const looked = look?.name === name ? look : undefined;
  const address = `${at}/effect?${new URLSearchParams({ [kind]: name })}`;
  return (
    <li id={`hit-${kind}-${name}`} class={looked && "open"} data-effect={isSelected ? undefined : address}>
      <div>
        <span class="name">
          {kind === "pattern" && "pattern: "}
          <Marked text={name} part={q} />
        </span>{" "}
        <span class="quiet num">{best.version}</span> <Purpose of={best} />
        <p class="quiet">
          {best.summary} <span class="nowrap">· {best.repository.name}</span>
          {kind === "package" && <span class="nowrap num"> · {size(best.installSizeBytes)}</span>}
        </p>
      </div>
      <div class="effect num">
        {isSelected && <State tone="good">Selected</State>}
        <Effect offer={offer} seen={seen} isSelected={isSelected} />
      </div>
      <div class="hit-action">
        <ActionButton
          action={at}
          fields={{ do: isSelected ? "remove" : "add", kind, name }}
          look="small"
          icon={isSelected ? "x" : "plus"}
          about={name}
          swap="main"
          hasFocus={looked !== undefined}
        >
          {isSelected ? "Remove" : "Add"}
        </ActionButton>
      </div>
      {looked && (
        <div class="wide stack-s">
          <EffectView effect={looked.effect} isSelected={isSelected} />
        </div>
      )}
      {others.length > 0 && <Others offer={offer} at={at} />}
    </li>
  );
};

/** Highlights the part of a text that matches the search. */
const Marked = ({ text, part }: { text: string; part: string }) => {
  const at = part === "" ? -1 : text.toLowerCase().indexOf(part.toLowerCase());
  if (at === -1) return <>{text}</>;
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + part.length)}</mark>
      {text.slice(at + part.length)}
    </>
  );
};

/** Marks a version that comes from an update or security repository. */
const Purpose = ({ of: { repository } }: { of: OfferedVersion }) => {
  if (repository.purpose === null) return null;
  return bringsSecurityUpdates(repository) ? <Badge tone="good">security</Badge> : <Badge>update</Badge>;
};

/** A link to the effect of a hit. The script requests the short form when the hit has the focus or the pointer. */
const Effect = ({ offer: { name, kind }, seen, isSelected }: HitProps & { isSelected: boolean }) => {
  const { q, allFields, most, look } = seen.search;
  const query = { q, ...(allFields && { all_fields: "true" }), most: String(most), look: name };
  const isInstalled =
    kind === "package" &&
    seen.resolution.state === "solved" &&
    seen.resolution.packages.some((one) => one.name === name);
  const words = isSelected ? "What it adds" : isInstalled ? "In the image" : "Effect";
  return (
    <ButtonLink
      href={`${applianceAt(seen.appliance.id, "software")}?${new URLSearchParams(query)}`}
      look="small plain"
      about={`of ${name}`}
      swap="hits"
    >
      <span data-said="">{look?.name === name && !isSelected ? effectOrConflict(look.effect) : words}</span>
    </ButtonLink>
  );
};

/** The versions that would not be installed. Those of the same architecture can be chosen instead. */
const Others = ({ offer: { kind, name, best, others }, at }: { offer: Offer; at: string }) => (
  <details class="wide">
    <summary>{counted(others.length, "other version")}</summary>
    <ul class="versions">
      {others.map((one) => (
        <li>
          <span>
            <span class="num">{one.version}</span> {one.arch !== best.arch && <span class="quiet">{one.arch}</span>}{" "}
            <Purpose of={one} /> <span class="quiet">· {one.repository.name}</span>
          </span>
          {kind === "package" && one.version !== best.version && one.arch === best.arch && (
            <ActionButton
              action={at}
              fields={{ do: "add", kind, name, version: one.version }}
              look="small plain"
              about={`${one.version} of ${name}`}
              swap="main"
            >
              Add this version
            </ActionButton>
          )}
        </li>
      ))}
    </ul>
  </details>
);
