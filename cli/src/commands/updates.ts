import type { AnswerOf } from "../client/client.ts";
import { command, flag } from "../command.ts";
import type { Exit } from "../complaint.ts";
import type { Painter } from "../output/painter.ts";
import { count, moment, table, visible } from "../output/table.ts";
import { buildId } from "../resolve.ts";

type Updates = AnswerOf<"listUpdates">["updates"];

export const updates = [
  command("outdated <build>", {
    tool: "reads",
    summary: "Show which packages of an image have newer versions now, and which of them are security updates",
    details:
      "It compares with the repositories that the appliance has now. The exit code is 2 if there are newer versions, and " +
      "1 if there are none but a repository cannot be read.",
    options: { security: flag("only security updates") },
    examples: ["kiln outdated First", "kiln outdated 31 --security"],
    act: async ({ client, show, paint }, { build, security }) => {
      const { updates: all } = await client.call("listUpdates", { build_id: await buildId(client, build) });
      const found = security ? { ...all, packages: all.packages.filter((one) => one.security) } : all;
      show({ updates: found }, () => shown(paint, found, security ? "security updates" : "newer versions"));
      return exitOf(found);
    },
  }),
];

function exitOf({ packages, repositories }: Updates): Exit {
  if (packages.length > 0) return "difference";
  return repositories.some(({ state }) => state === "unknown") ? "refused" : "done";
}

function shown(
  paint: Painter,
  { packages, repositories, unlisted, automatic_build: automatic, automatic_build_waits_until: until }: Updates,
  what: string,
): string {
  const rows = packages.map((one) => [
    one.name,
    one.installed,
    one.available,
    one.security ? "security" : "",
    one.repository,
  ]);
  const list = table(paint, ["PACKAGE", "INSTALLED", "AVAILABLE", "KIND", "REPOSITORY"], rows);
  const notes = [
    ...(unlisted > 0 ? [`The repositories of the appliance do not have ${count(unlisted, "installed package")}.`] : []),
    ...repositories.flatMap(({ name, state }) => (state === "current" ? [] : [`${name}: ${why[state]}`])),
    ...(automatic ? [`${automaticWords[automatic.state]}: ${automatic.message}`] : []),
    ...(until === undefined ? [] : [`The next automatic build waits until ${moment(until)} UTC.`]),
  ];
  return [rows.length > 0 ? list : `The repositories have no ${what}.`, ...notes.map(visible)].join("\n");
}

const why = {
  stale: "the last refresh failed, so there may be newer versions.",
  unknown: "it cannot be read, so nothing is known about its packages.",
} as const;

const automaticWords = {
  building: "Being built again",
  done: "Built",
  failed: "The last automatic build failed",
  refused: "Not built again",
} as const;
