/** The reporter's events of a run, in order. `file` is relative to the project's root. */
export type TestEvent = { file: string } & (
  | { type: "file began" }
  | { type: "test began"; test: string }
  | { type: "test ended"; test: string; state: "passed" | "failed" | "skipped"; reason: string }
  /** If there is a reason, the file failed although none of its tests did. */
  | { type: "file ended"; reason: string | undefined }
);
