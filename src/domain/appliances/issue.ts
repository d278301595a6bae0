/** A problem that prevents a build, or a fact that might surprise the user (compatibility.md, "Status"). */
export interface Issue {
  type: "error" | "warning";
  text: string;
  /**
   * The text for people, if the issue is about the software. The page of the software shows it with all solutions. The
   * API keeps libsolv's text.
   */
  ofSoftware?: string;
  /** The appliance's page where the issue can be solved. */
  page?: string;
  solution?: { type: "install" | "remove"; package: string };
  /** The id of a repository that solves the issue if it is added. */
  repository?: number;
  /** The value of a setting that solves the issue. `path` is the setting's path in the configuration document. */
  setting?: { path: string; value: string; words: string };
}
