import { Complaint } from "./complaint.ts";

/** The words for what a failed system call should have done. */
const verbs: Readonly<Record<string, string>> = {
  mkdir: "created",
  open: "opened",
  read: "read",
  rename: "renamed",
  scandir: "read",
  unlink: "deleted",
  write: "written",
};

/** An error of the operating system, such as a full disk, in the form of all others. Undefined for other errors. */
export function complaintOf(error: unknown): Complaint | undefined {
  if (!isOfSystem(error)) return undefined;
  const { code = "", syscall, path = "A file", message } = error;
  const [, reason = message] = /^\w+: ([^,]+)/.exec(message) ?? [];
  return new Complaint(
    "refused",
    `${path} cannot be ${verbs[syscall] ?? "used"}: ${reason} (${code}).`,
    "Check the path, its permissions and the free space on the disk.",
  );
}

const isOfSystem = (error: unknown): error is NodeJS.ErrnoException & { syscall: string } =>
  error instanceof Error && "syscall" in error && typeof error.syscall === "string";
