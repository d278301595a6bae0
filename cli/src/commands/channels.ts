import type { AnswerOf } from "../client/client.ts";
import { command, value } from "../command.ts";
import { onOrOff } from "../on-or-off.ts";
import type { Painter } from "../output/painter.ts";
import { moment, table } from "../output/table.ts";
import { applianceId } from "../resolve.ts";

export const channels = [
  command("channel list <appliance>", {
    tool: "reads",
    summary: "List the channels of an appliance, with the addresses that always lead to their newest image",
    act: async ({ client, show, paint }, { appliance }) => {
      const answer = await client.call("listChannels", { appliance_id: await applianceId(client, appliance) });
      show(answer, () => shown(paint, answer));
    },
  }),
  command("channel set <appliance> <channel>", {
    summary: "Make a channel, move it to a published version, or say whether it moves automatically",
    details:
      "An automatic channel moves to each newer version that is published and has passed its checks. If you move it back to " +
      "an older version, it is no longer automatic. `curl -LOJ` downloads from its address, without an account.",
    options: {
      version: value("version", "the published version that it has from now on"),
      automatic: value("on_or_off", "whether it moves automatically; the default is as before, or off"),
    },
    examples: ["kiln channel set First stable --version 0.0.2", "kiln channel set First testing --automatic on"],
    act: async ({ client, show, paint }, { appliance, channel, version, automatic }) => {
      const isAutomatic = automatic === undefined ? undefined : onOrOff(automatic, "--automatic");
      const answer = await client.call("changeChannel", {
        appliance_id: await applianceId(client, appliance),
        channel,
        version,
        automatic: isAutomatic,
      });
      show(answer, () => shown(paint, answer));
    },
  }),
  command("channel remove <appliance> <channel>", {
    summary: "Remove a channel. Its addresses stop working",
    act: async ({ client, show }, { appliance, channel }) => {
      const id = await applianceId(client, appliance);
      const answer = await client.call("removeChannel", { appliance_id: id, channel });
      show(answer, () => `The channel ${channel} was removed.`);
    },
  }),
];

function shown(paint: Painter, { channels: all }: AnswerOf<"listChannels">): string {
  const rows = all.flatMap(({ name, version = "none", automatic, moved_at, images }) => {
    const facts = [name, version, automatic ? "automatically" : "by hand", moment(moved_at) ?? ""];
    return images.length === 0 ? [[...facts, ""]] : images.map(({ url }) => [...facts, url]);
  });
  return table(paint, ["CHANNEL", "VERSION", "MOVES", "MOVED", "ADDRESS"], rows);
}
