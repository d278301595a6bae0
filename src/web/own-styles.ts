/** Style sheets of single pages in `src/web/style/pages`, which only those pages load. */
export const ownStyles = ["handbook.css", "testdrive.css"] as const;
