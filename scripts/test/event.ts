/** What the reporter tells of a run, in order; `file` from the project's root. */
export type TestEvent = { file: string } & (
  | { type: "file began" }
  | { type: "test began"; test: string }
  | { type: "test ended"; test: string; state: "passed" | "failed" | "skipped"; reason: string }
  /** With a reason: the file failed, though none of its tests did. */
  | { type: "file ended"; reason: string | undefined }
);
