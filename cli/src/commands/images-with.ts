import type { AnswerOf } from "../client/client.ts";
import { command, value } from "../command.ts";
import { Complaint } from "../complaint.ts";
import type { Kiln } from "../kiln.ts";
import { moment, table } from "../output/table.ts";

type Image = AnswerOf<"findImages">["images"][number];

/** The maximum number of images in one answer. */
const perAnswer = 1000;

export const imagesWith = [
  command("images", {
    tool: "reads",
    summary: "Show which of your images have a package, or a vulnerability",
    details: "A new image is found a minute or two after it is built.",
    options: { with: value("package", "the package"), cve: value("advisory", "the vulnerability") },
    examples: [
      "kiln images --with openssl",
      "kiln images --with openssl=3.0.15-1~deb12u1",
      "kiln images --cve CVE-2026-1234",
    ],
    act: async (kiln, { with: asked, cve }) => {
      if ((asked === undefined) === (cve === undefined)) {
        throw new Complaint("misused", "Which images?", "Use --with NAME, --with NAME=VERSION or --cve ID.");
      }
      const [name, version] = asked?.split("=") ?? [];
      const images = await all(kiln, { package: name, version, cve });
      kiln.show({ images }, () =>
        images.length === 0 ? `None of your images has ${asked ?? cve}.` : shown(kiln, images),
      );
    },
  }),
];

type Wanted = Record<"package" | "version" | "cve", string | undefined>;

async function all({ client }: Kiln, wanted: Wanted): Promise<Image[]> {
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
      one.packages.map(packageText).join(", "),
      moment(one.completed_at),
    ]),
  );

const packageText = ({ name, version, state, fixed }: Image["packages"][number]): string =>
  [
    `${name} ${version}`,
    ...(state === undefined ? [] : [`(${fixed === undefined ? state : `fixed in ${fixed}`})`]),
  ].join(" ");
