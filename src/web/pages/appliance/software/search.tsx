import { firstShown, maxShown } from "./asked.ts";
import { ButtonLink, Button } from "../../../parts/button.tsx";
import { Choice, Field } from "../../../parts/field.tsx";
import { number } from "../../../parts/words.ts";
import { applianceAt } from "../with-appliance.ts";
import { Hit } from "./hit.tsx";
import type { ShownSoftware } from "./shown.ts";

/** Searches packages and patterns while someone types. Without a script, the button starts the search. */
export const Found = ({ seen }: { seen: ShownSoftware }) => {
  const { q, allFields, found } = seen.search;
  const at = applianceAt(seen.appliance.id, "software");
  return (
    <section class="panel flush" aria-labelledby="find">
      <h2 class="hidden" id="find">
        Find packages
      </h2>
      <form class="body stack-s" role="search" action={at} data-search="" data-swap="hits found more">
        <div class="row">
          <div class="grow">
            {" "}
            <Field
              name="q"
              label="Packages and patterns"
              isLabelHidden
              type="search"
              value={q}
              also={{ placeholder: "Find packages", autocomplete: "off", maxlength: 255 }}
            />
          </div>
          <Button icon="search">Search</Button>
        </div>
        <div class="row spread small-text">
          <p class="quiet" id="found" role="status">
            {q === "" ? "" : foundWords(seen)}
          </p>
          <Choice name="all_fields" value="true" isChecked={allFields}>
            In descriptions, too
          </Choice>
        </div>
      </form>
      <ul class="hits" id="hits" data-effect="">
        {found?.offers.map((offer) => (
          <Hit offer={offer} seen={seen} />
        ))}
      </ul>
      <div id="more">
        <More seen={seen} />
      </div>
    </section>
  );
};

function foundWords({ search: { found }, software }: ShownSoftware): string {
  if (!found || found.total === 0) return "Nothing has this name. Look in descriptions, or add a repository.";
  const { total, hasMore } = found;
  const { length } = software.repositories;
  return `${hasMore ? "More than " : ""}${number(total)} found in ${length === 1 ? "1 repository" : `${length} repositories`}`;
}

/** How many of the hits are shown, and a link to more. */
const More = ({ seen: { search, appliance } }: { seen: ShownSoftware }) => {
  const { q, allFields, most, found } = search;
  if (!found || found.total <= found.offers.length) return null;
  const next = Math.min(firstShown, found.total - most);
  const query = new URLSearchParams({ q, ...(allFields && { all_fields: "true" }), most: String(most + firstShown) });
  return (
    <div class="body row spread small-text">
      <span class="quiet">
        The best {number(found.offers.length)} of {found.hasMore && "more than "}
        {number(found.total)}
      </span>
      {most < maxShown ? (
        <ButtonLink
          href={`${applianceAt(appliance.id, "software")}?${query}`}
          look="small plain"
          swap="hits found more"
          about="of what was found"
        >
          Show {next} more
        </ButtonLink>
      ) : (
        <span class="quiet">Search for more of the name to see others.</span>
      )}
    </div>
  );
};
