/** What prevents a build, or might surprise its user (compatibility.md, "Status"). */
export interface Issue {
  type: "error" | "warning";
  text: string;
  /** The same for people, if it is about the software, whose page says it with all ways out. The API keeps the words of libsolv. */
  ofSoftware?: string;
  /** The page of the appliance on which it can be solved. */
  page?: string;
  solution?: { type: "install" | "remove"; package: string };
}
