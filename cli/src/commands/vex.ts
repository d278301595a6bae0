import type { AnswerOf } from "../client/client.ts";
import { command, value } from "../command.ts";
import { Complaint } from "../complaint.ts";
import type { Painter } from "../output/painter.ts";
import { moment, table, visible } from "../output/table.ts";
import { applianceId, buildId } from "../resolve.ts";
import { vexJustifications as reasons } from "../vex-justifications.ts";

const image = value("build", "only this image of the appliance; the default is all of them");

export const vex = [
  command("vex list <appliance>", {
    tool: "reads",
    summary: "List what you state about advisories that concern images of an appliance",
    act: async ({ client, show, paint }, { appliance }) => {
      const answer = await client.call("listVexStatements", { appliance_id: await applianceId(client, appliance) });
      show(answer, () => shown(paint, answer));
    },
  }),
  command("vex set <appliance> <advisory>", {
    summary: "State that an advisory does not affect images of an appliance, or that you examine it",
    details:
      `With --because, the images are not affected, for one of OpenVEX's reasons: ${reasons.join(", ")}. Without it, you ` +
      "examine the advisory. An announcement, such as DSA-6001-1, applies to each advisory that it fixes. The signed VEX document of each image has the statement.",
    options: {
      because: value("reason", "why the images are not affected"),
      text: value("text", "an explanation for readers"),
      image,
    },
    examples: [
      'kiln vex set First CVE-2026-1234 --because vulnerable_code_not_in_execute_path --text "Its server is off."',
    ],
    act: async ({ client, show, paint }, { appliance, advisory, because, text, image }) => {
      const justification = reasons.find((one) => one === because);
      if (because !== undefined && !justification)
        throw new Complaint("misused", `${because} is not a reason.`, `The reasons are ${reasons.join(", ")}.`);
      const answer = await client.call("stateVex", {
        appliance_id: await applianceId(client, appliance),
        advisory,
        status: because === undefined ? "under_investigation" : "not_affected",
        justification,
        text,
        build_id: image === undefined ? undefined : await buildId(client, image),
      });
      show(answer, () => shown(paint, answer));
    },
  }),
  command("vex remove <appliance> <advisory>", {
    summary: "Withdraw a statement about an advisory",
    options: { image },
    act: async ({ client, show }, { appliance, advisory, image }) => {
      const answer = await client.call("withdrawVex", {
        appliance_id: await applianceId(client, appliance),
        advisory,
        build_id: image === undefined ? undefined : await buildId(client, image),
      });
      show(answer, () => `The statement about ${advisory} is withdrawn.`);
    },
  }),
];

function shown(paint: Painter, { vex_statements: all }: AnswerOf<"listVexStatements">): string {
  const rows = all.map(({ advisory, build_id, status, justification, text, stated_at }) => [
    advisory,
    build_id === undefined ? "all images" : `build ${build_id}`,
    justification ?? status,
    moment(stated_at) ?? "",
    visible(text),
  ]);
  return table(paint, ["ADVISORY", "ABOUT", "STATEMENT", "SINCE", "TEXT"], rows);
}
