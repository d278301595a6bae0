import { Icon } from "./icon.tsx";

interface SearchProps {
  action: string;
  name?: string;
  value?: string | undefined;
  label: string;
  placeholder: string;
  /** Words of its button; without them, Return sends it. */
  button?: string;
  /** Classes: `large`, `list-search`. */
  look?: string;
  /** It is sent while someone types, and these elements are replaced by the answer's. */
  swap?: string;
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
    />
    {button !== undefined && <button class={`button ${look === "large" ? "primary" : ""}`}>{button}</button>}
  </form>
);
