import { Icon } from "../../parts/icon.tsx";
import { concerns, orders, states, type Asked } from "./asked.ts";

interface Offered {
  asked: Asked;
  tags: readonly string[];
  /** Whether the service knows any advisories to filter by. */
  hasAdvisories: boolean;
}

/** Search, filters and order of the list: a GET form, so that its address can be shared. */
export const ListFilter = ({ asked, tags, hasAdvisories }: Offered) => (
  <form class="row filter" role="search" action="/appliances" data-swap="found count" data-search="">
    <div class="search">
      <Icon name="search" />
      <label class="hidden" for="search-search">
        Search my appliances
      </label>
      <input
        class="input"
        type="search"
        id="search-search"
        name="search"
        value={asked.search}
        placeholder="Name or package"
        autocomplete="off"
        maxlength={100}
      />
    </div>
    <Choose name="state" label="State" value={asked.state ?? ""} options={[["", "Any state"], ...states]} />
    {(tags.length > 0 || asked.tag !== undefined) && (
      <Choose
        name="tag"
        label="Tag"
        value={asked.tag ?? ""}
        options={[["", "Any tag"], ...withTag(tags, asked.tag).map((tag): [string, string] => [tag, tag])]}
      />
    )}
    {(hasAdvisories || asked.advisories !== undefined) && (
      <Choose
        name="advisories"
        label="Advisories"
        value={asked.advisories ?? ""}
        options={[["", "Any advisories"], ...concerns]}
      />
    )}
    <Choose name="order" label="Order" value={asked.order} options={orders} />
    <noscript>
      <button class="button">Show</button>
    </noscript>
  </form>
);

/** The chosen tag is listed even if no appliance has it now. */
const withTag = (tags: readonly string[], chosen: string | undefined): readonly string[] =>
  chosen === undefined || tags.includes(chosen) ? tags : [...tags, chosen];

interface ChooseProps {
  name: string;
  label: string;
  value: string;
  options: readonly (readonly [value: string, words: string])[];
}

const Choose = ({ name, label, value, options }: ChooseProps) => (
  <select class="input auto" name={name} aria-label={label}>
    {options.map(([each, words]) => (
      <option value={each} selected={each === value}>
        {words}
      </option>
    ))}
  </select>
);
