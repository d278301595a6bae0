/** A problem that prevents a build, or a fact that might surprise the user (compatibility.md, "Status"). */
export interface Issue {
  type: "error" | "warning";
  text: string;
  /**
   * The text for people, if the issue is about the software, whose page shows it with all solutions. The API keeps
   * libsolv's text.
   */
  ofSoftware?: string;
  /** The appliance's page on which the issue can be solved. */
  page?: string;
  solution?: { type: "install" | "remove"; package: string };
  /** The id of a repository that solves it if it is added. */
  repository?: number;
  /** The value of a setting that solves it, by the setting's path in the document of the configuration. */
  setting?: { path: string; value: string; words: string };
}
