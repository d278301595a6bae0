import { Icon } from "./icon.tsx";

interface SearchProps {
  action: string;
  name?: string;
  value?: string | undefined;
  label: string;
  placeholder: string;
  /** The text of the button. Without a button, Return sends the search. */
  button?: string;
  /** Classes: `large`. */
  look?: string;
  /** The ids of the elements that the answer replaces. If given, the form is sent while the user types. */
  swap?: string;
  /** The id of a list whose entries it filters, without a request. */
  filter?: string;
}

/** A search is a GET form, so that its address can be shared. */
export const Search = ({
  action,
  name = "search",
  value,
  label,
  placeholder,
  button,
  look = "",
  swap,
  filter,
}: SearchProps) => (
  <form
    class={`search ${look}`}
    role="search"
    action={action}
    data-swap={swap}
    data-search={swap === undefined ? undefined : ""}
  >
    <Icon name="search" />
    <label class="hidden" for={`search-${name}`}>
      {label}
    </label>
    <input
      class="input"
      type="search"
      id={`search-${name}`}
      name={name}
      value={value}
      placeholder={placeholder}
      autocomplete="off"
      maxlength={100}
      data-filter={filter}
    />
    {button !== undefined && <button class={`button ${look === "large" ? "primary" : ""}`}>{button}</button>}
  </form>
);
