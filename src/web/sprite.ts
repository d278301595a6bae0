/** One star of 20 by 20; five make the `stars` of a rating. */
export const star = "M10 1l2.8 5.7 6.2.9-4.5 4.4 1.1 6.2-5.6-2.900-5.6 2.900 1.1-6.2-4.5-4.4 6.2-.9z";
const fiveStars = [10, 30, 50, 70, 90].map((x) => star.replace("M10", `M${x}`)).join("");

/** The symbols that the HTML of a page uses. Users' text cannot refer to one, because its `<` is escaped. */
export function spriteFor(html: string, icons: Readonly<Record<string, string>>): string {
  const names = new Set([...html.matchAll(/<use href="#i-([a-z0-9-]+)"/g)].map(([, name = ""]) => name));
  const symbols = [...names].map((name) => `<symbol id="i-${name}" viewBox="0 0 24 24">${icons[name] ?? ""}</symbol>`);
  if (html.includes('href="#stars"')) symbols.push(`<path id="stars" d="${fiveStars}"/>`);
  return symbols.length === 0 ? "" : `<svg hidden>${symbols.join("")}</svg>`;
}
