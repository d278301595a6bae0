import type { AnswerOf } from "../client/client.ts";
import { command, value } from "../command.ts";
import { Complaint } from "../complaint.ts";
import type { Kiln } from "../kiln.ts";
import { moment, table } from "../output/table.ts";

type Image = AnswerOf<"findImages">["images"][number];

/** How many images one answer has at most. */
const perAnswer = 1000;

export const imagesWith = [
  command("images", {
    tool: "reads",
    summary: "Show which of your images have a package",
    details: "A new image is found a minute or two after it is built.",
    options: { with: value("package", "the package") },
    examples: ["kiln images --with openssl", "kiln images --with openssl=3.0.15-1~deb12u1"],
    act: async (kiln, { with: asked }) => {
      if (asked === undefined) throw new Complaint("misused", "Which package?", "Use --with NAME or NAME=VERSION.");
      const [name = "", version] = asked.split("=");
      const images = await all(kiln, { package: name, version });
      kiln.show({ images }, () => (images.length === 0 ? `None of your images has ${asked}.` : shown(kiln, images)));
    },
  }),
];

async function all({ client }: Kiln, wanted: { package: string; version: string | undefined }): Promise<Image[]> {
  const found: Image[] = [];
  for (;;) {
    const { images } = await client.call("findImages", { ...wanted, before: found.at(-1)?.build_id });
    found.push(...images);
    if (images.length < perAnswer) return found;
  }
}

const shown = ({ paint }: Kiln, images: readonly Image[]): string =>
  table(
    paint,
    ["BUILD", "APPLIANCE", "VERSION", "TYPE", "PACKAGES", "BUILT"],
    images.map((one) => [
      one.build_id,
      one.appliance,
      one.version,
      one.image_type,
      one.packages.map(({ name, version }) => `${name} ${version}`).join(", "),
      moment(one.completed_at),
    ]),
  );
