import { versionRelease } from "#contract/index";
import { ActionButton, Button, ButtonLink } from "../../../parts/button.tsx";
import { Choice, Field } from "../../../parts/field.tsx";
import { State } from "../../../parts/state.tsx";
import { counted } from "../../../parts/words.ts";
import { applianceAt } from "../with-appliance.ts";
import type { ShownSoftware } from "./shown.ts";
import { effectOrConflict } from "./words.ts";

/** The number of hits on a page; the best come first. */
export const maxShown = 50;

interface Hit {
  kind: "package" | "pattern";
  name: string;
  version: string;
  summary: string | undefined;
  repository: string;
}

/** Searches packages and patterns while someone types. Without a script, the button does. */
export const Found = ({ seen }: { seen: ShownSoftware }) => {
  const { q, allFields } = seen.search;
  const at = applianceAt(seen.appliance.id, "software");
  const hits = hitsOf(seen);
  return (
    <section class="panel flush" aria-labelledby="find">
      <h2 class="hidden" id="find">
        Find packages
      </h2>
      <form class="body stack-s" role="search" action={at} data-search="" data-swap="hits found">
        <div class="row">
          <div class="grow">
            {" "}
            <Field
              name="q"
              label="Packages and patterns"
              isLabelHidden
              type="search"
              value={q}
              also={{ placeholder: "Find packages", autocomplete: "off" }}
            />
          </div>
          <Button icon="search">Search</Button>
        </div>
        <div class="row spread small-text">
          <p class="quiet" id="found" role="status">
            {q === "" ? "" : foundWords(hits.length)}
          </p>
          <Choice name="all_fields" value="true" isChecked={allFields}>
            In descriptions, too
          </Choice>
        </div>
      </form>
      <ul class="hits" id="hits" data-effect="">
        {hits.slice(0, maxShown).map((hit) => (
          <One hit={hit} seen={seen} />
        ))}
      </ul>
    </section>
  );
};

function foundWords(count: number): string {
  if (count === 0) return "Nothing has this name. Look in descriptions, or add a repository.";
  return count > maxShown ? `The best ${maxShown} hits` : counted(count, "hit");
}

/** The repository with the best hit comes first. */
const hitsOf = ({ search: { found } }: ShownSoftware): Hit[] =>
  (found?.repositories ?? []).flatMap(({ name: repository, packages, patterns }) => [
    ...patterns.map(({ name, version, summary }) => ({ kind: "pattern" as const, name, version, summary, repository })),
    ...packages.map((one) => {
      const { name, summary } = one;
      return { kind: "package" as const, name, version: versionRelease(one), summary, repository };
    }),
  ]);

const One = ({ hit, seen }: { hit: Hit; seen: ShownSoftware }) => {
  const { kind, name, version, summary, repository } = hit;
  const at = applianceAt(seen.appliance.id, "software");
  const isSelected = seen.software.selection.some((one) => one.kind === kind && one.name === name);
  const address = `${at}/effect?${new URLSearchParams({ package: name })}`;
  return (
    <li data-effect={kind === "package" && !isSelected ? address : undefined}>
      <div>
        <span class="name">{kind === "pattern" ? `pattern: ${name}` : name}</span>{" "}
        <span class="quiet num">{version}</span>
        <p class="quiet">
          {summary} <span class="nowrap">· {repository}</span>
        </p>
      </div>
      <div class="effect num">
        {isSelected ? <State tone="good">Selected</State> : kind === "package" && <Effect hit={hit} seen={seen} />}
      </div>
      <div class="hit-action">
        <ActionButton
          action={at}
          fields={{ do: isSelected ? "remove" : "add", kind, name }}
          look="small"
          icon={isSelected ? "x" : "plus"}
          about={name}
        >
          {isSelected ? "Remove" : "Add"}
        </ActionButton>
      </div>
    </li>
  );
};

/** A link to what it brings; the script asks for it when the hit has the focus or the pointer. */
const Effect = ({ hit: { name }, seen }: { hit: Hit; seen: ShownSoftware }) => {
  const { q, look } = seen.search;
  if (look?.name === name) return <>{effectOrConflict(look.effect)}</>;
  const query = new URLSearchParams({ q, look: name });
  return (
    <ButtonLink href={`${applianceAt(seen.appliance.id, "software")}?${query}`} look="small plain" about={`of ${name}`}>
      Effect
    </ButtonLink>
  );
};
