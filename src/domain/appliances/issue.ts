/** What prevents a build, or might surprise its user (compatibility.md, "Status"). */
export interface Issue {
  type: "error" | "warning";
  text: string;
  /** The page of the appliance on which it can be solved. */
  page?: string;
  solution?: { type: "install" | "remove"; package: string };
}
