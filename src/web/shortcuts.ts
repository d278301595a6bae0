/**
 * The keys of every page. They work while no one types in a field. The island `shortcuts` reads them, and pages list
 * them.
 */
export const shortcuts = [
  { keys: "/", words: "Go to the search of the page", act: "search" },
  { keys: "g a", words: "My appliances", to: "/appliances" },
  { keys: "g g", words: "Gallery", to: "/" },
  { keys: "g n", words: "New appliance", to: "/appliances/new" },
  { keys: "?", words: "Show the shortcuts", act: "show" },
] as const;
