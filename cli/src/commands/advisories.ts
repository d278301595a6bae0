import type { AnswerOf } from "../client/client.ts";
import { command, flag } from "../command.ts";
import type { Painter } from "../output/painter.ts";
import { moment, table, visible } from "../output/table.ts";
import { buildId } from "../resolve.ts";

type Found = AnswerOf<"listAdvisories">["build_advisories"];

export const advisories = [
  command("advisories <build>", {
    tool: "reads",
    summary: "Show the security advisories that concern the packages of an image",
    details:
      "The exit code is 2 if an update fixes one of them, and 1 if the service has no advisories of the base system. --all also " +
      "shows those that are not fixed yet.",
    options: { all: flag("also those that no update fixes") },
    examples: ["kiln advisories First", "kiln advisories 31 --all"],
    act: async ({ client, show, paint }, { build, all }) => {
      const { build_advisories: found } = await client.call("listAdvisories", {
        build_id: await buildId(client, build),
      });
      const listed = all ? found.advisories : found.advisories.filter(({ state }) => state === "fixed");
      show({ build_advisories: { ...found, advisories: listed } }, () =>
        shown(paint, { ...found, advisories: listed }),
      );
      if (!found.known) return "refused";
      return found.fixed > 0 ? "difference" : "done";
    },
  }),
];

function shown(paint: Painter, { known, advisories: listed, feeds, ...counts }: Found): string {
  if (!known) return "The service has no advisories of this base system.";
  const rows = listed.map(({ id, aliases = [], state, exploited, source, installed, fixed, statement }) => [
    [id, ...aliases].join(" "),
    exploited ? `${state}, exploited` : state,
    source,
    installed,
    fixed ?? "",
    statement?.justification ?? statement?.status ?? "",
  ]);
  return [
    ...(rows.length > 0
      ? [table(paint, ["ADVISORY", "STATE", "SOURCE", "INSTALLED", "FIXED", "YOU STATE"], rows)]
      : []),
    `${counts.fixed} fixed in an update${counts.exploited > 0 ? ` (${counts.exploited} exploited)` : ""}, ` +
      `${counts.open} not fixed yet, ${counts.undetermined} not examined yet, ` +
      `${counts.unimportant} unimportant.`,
    ...feeds.map(({ name, origin, read_at: at, problem }) =>
      visible(`${name}: ${at ? `${origin}, read ${moment(at)}` : "never read"}${problem ? `. ${problem}` : ""}`),
    ),
  ].join("\n");
}
