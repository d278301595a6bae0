import { architectures, arches, imageFormats, imageTypes } from "#lib/contract/index";
import { Button } from "../../parts/button.tsx";
import { Hidden } from "../../parts/form.tsx";
import { addressOf, type Asked } from "./asked.ts";

/** A value and its label. */
export type Choice = readonly [value: string, words: string];

/** Filters and sorts the list. It is a GET form, so it needs no script, and its address can be shared. */
export const Filters = ({ asked, bases }: { asked: Asked; bases: readonly Choice[] }) => {
  const { search, username, order, traits } = asked;
  const others = { ...(search !== "" && { search }), ...(username !== "" && { username }) };
  const isNarrowed = Object.keys(traits).length > 0;
  return (
    <form class="row filters" action="/gallery" role="search" aria-label="Filters">
      <Hidden fields={{ ...others, ...(traits.tag !== undefined && { tag: traits.tag }) }} />
      <Select name="base" label="Base" all="Any base" choices={bases} chosen={traits.baseSystem} />
      <Select name="format" label="Format" all="Any format" choices={formats} chosen={traits.imageType} />
      <Select name="arch" label="Architecture" all="Any architecture" choices={archChoices} chosen={traits.arch} />
      <Select
        name="order"
        label="Order"
        all={search === "" ? undefined : "Best match"}
        choices={orders}
        chosen={order}
      />
      <Button>Show</Button>
      {traits.tag !== undefined && (
        <span class="small-text">
          with the tag <b>{traits.tag}</b>
        </span>
      )}
      {isNarrowed && <a href={`/gallery?${new URLSearchParams(addressOf({ ...asked, traits: {} }))}`}>Clear filters</a>}
    </form>
  );
};

const formats: readonly Choice[] = imageTypes.map((type) => [type, `${type}, ${imageFormats[type].label}`]);

const archChoices: readonly Choice[] = arches.map((arch) => [arch, architectures[arch].name]);

const orders: readonly Choice[] = [
  ["popular", "Popular first"],
  ["latest", "Newest first"],
  ["rating", "Best rated first"],
];

interface SelectProps {
  name: string;
  label: string;
  /** The label of the option that filters nothing. */
  all: string | undefined;
  choices: readonly Choice[];
  chosen: string | undefined;
}

const Select = ({ name, label, all, choices, chosen }: SelectProps) => (
  <>
    <label class="hidden" for={name}>
      {label}
    </label>
    <select class="input auto" id={name} name={name}>
      {all !== undefined && <option value="">{all}</option>}
      {choices.map(([value, words]) => (
        <option value={value} selected={value === chosen}>
          {words}
        </option>
      ))}
    </select>
  </>
);
