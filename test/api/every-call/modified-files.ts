import { signedIn } from "../../support/client.ts";
import { listOf, modifiedDrive, modifiedFile, type AgentAnswer } from "../../support/modified.ts";
import { refused, type Row } from "./row.ts";
import type { Sample } from "./sample.ts";

const files = "/testdrives/{testdrive}/modified_files";

/** A session whose agent gives this answer. One account has few slots. */
const telling =
  (told: AgentAnswer) =>
  async ({ ids }: Sample): Promise<Sample> => {
    const tux = await signedIn();
    const { id } = await modifiedDrive(tux, ({ wanted }) =>
      wanted.kind === "data" ? { bytes: "hello\n", size: 6 } : told,
    );
    return { tux, ids: { ...ids, testdrive: id } };
  };

const list = listOf([
  modifiedFile({ change: "changed", difference: "--- a/etc/motd\n+++ b/etc/motd\n@@ -0,0 +1 @@\n+hello\n" }),
  modifiedFile({ path: "/etc/machine-id" }),
  modifiedFile({ path: "/etc/link", type: "l", target: "motd" }),
]);

export const modifiedFiles: readonly Row[] = [
  {
    call: "GET /testdrives/{testdrive_id}/modified_files",
    path: files,
    answer: "modified_files",
    foreign: "unknown_error",
    fresh: telling(list),
    refused: [
      refused(files, "raw_image_unavailable"),
      refused(`${files}?path=etc`, "invalid_value"),
      refused(`${files}?difference=some`, "invalid_value"),
    ],
  },
  {
    call: "GET /testdrives/{testdrive_id}/modified_files/data",
    path: `${files}/data?path=/etc/motd`,
    answer: "application/octet-stream",
    foreign: "unknown_error",
    fresh: telling(list),
    refused: [
      refused(`${files}/data`, "missing_parameter"),
      refused(`${files}/data?path=../motd`, "invalid_value"),
      refused(`${files}/data?path=/etc/motd`, "raw_image_unavailable"),
    ],
  },
  {
    call: "GET /testdrives/{testdrive_id}/modified_files/archive",
    path: `${files}/archive?path=/etc`,
    answer: "application/gzip",
    foreign: "unknown_error",
    fresh: telling({ bytes: "packed" }),
    refused: [
      refused(`${files}/archive?except=etc`, "invalid_value"),
      refused(`${files}/archive`, "raw_image_unavailable"),
    ],
  },
  {
    call: "POST /testdrives/{testdrive_id}/modified_files/keep",
    path: `${files}/keep?path=/etc`,
    answer: "kept_files",
    foreign: "unknown_error",
    fresh: telling(list),
    refused: [
      refused(`${files}/keep`, "missing_parameter"),
      refused(`${files}/keep?path=/etc&appliance_id=x`, "invalid_appliance_id"),
      refused(`${files}/keep?path=/etc&archive=some`, "invalid_value"),
      refused(`${files}/keep?path=/etc`, "raw_image_unavailable"),
    ],
  },
];
