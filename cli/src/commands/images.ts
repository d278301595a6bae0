import { command, flag, value } from "../command.ts";
import { builtImages, imagesInChannel, olderImages } from "../download/find.ts";
import { downloadImage, linkOf, type Downloaded } from "../download/image.ts";
import { storedLogins } from "../login/login.ts";
import { transferBar } from "../output/progress.ts";
import { withoutHashes } from "../output/secrets.ts";
import { facts, moment, visible } from "../output/table.ts";
import type { Painter } from "../output/painter.ts";
import { applianceId, buildId } from "../resolve.ts";
import { Complaint } from "../complaint.ts";
import { verifyImage, type Verified } from "../verify/image.ts";
import { noteNextTo } from "../verify/logged.ts";
import { rebuildsText, type Rebuild } from "../verify/rebuilds.ts";
import { keyOption as key, trustedKeys } from "../verify/keys.ts";
import { cosignedBy, quorumOf, quorumOptions } from "../verify/witnesses.ts";

export const images = [
  command("download <build>", {
    summary: "Download an image, and verify it",
    details:
      "An interrupted download continues where it stopped, even when you run the command again. Checksum and signature are " +
      "verified with the pinned key of the service. The bills of materials and the signed provenance come with the image, and " +
      "for a published one the proof that the public log has it. If an earlier image is in the folder, only the " +
      "differences are downloaded, and the result is the disk alone.",
    options: {
      output: value("directory", "where to put the files; the default is this folder"),
      version: value("version", "the image of this version of the appliance; the default is the newest"),
      all: flag("the images of all types that this version has"),
      channel: value("channel", "the image that this channel has; <build> may then be an appliance of the gallery"),
      key,
      from: value("file", "make the disk from that of this earlier image; the default is one in the folder"),
      whole: flag("download the whole image, even if an earlier one exists"),
      force: flag("replace another file of the same name"),
      unverified: flag("compare only the checksum, if the service signs nothing, or you do not have its key"),
    },
    examples: [
      "kiln download First",
      "kiln download 12 --output images",
      "kiln download First --all --version 0.0.1",
      "kiln download 1004:iso --channel stable",
    ],
    act: async (
      kiln,
      { build: given, output: folder = ".", version, all, channel, key: keyFile, from, whole, force, unverified },
    ) => {
      const keys = unverified ? undefined : trustedKeys(keyFile, kiln.login.keys);
      const wanted = { version, isAll: all };
      const found =
        channel === undefined
          ? await builtImages(kiln.client, given, wanted)
          : await imagesInChannel(kiln.client, given, { channel, ...wanted });
      const images: Downloaded[] = [];
      for (const image of found) {
        const show = transferBar("image");
        images.push(
          await downloadImage(
            {
              image,
              folder,
              service: kiln.login.url,
              keys,
              force,
              delta: !whole && { from, older: (id) => olderImages(kiln.client, id, image) },
            },
            {
              report: (arrived, size, state) =>
                show(state === "waiting" ? "Waiting for the service" : "Downloading", arrived, size),
              note: kiln.note,
            },
          ),
        );
      }
      const shown = images.map(({ verified, ...one }) => ({ ...one, verified: verified ?? false }));
      kiln.show(all ? { images: shown } : { ...shown[0] }, () =>
        images.map((one) => downloadedText(kiln.paint, one)).join("\n\n"),
      );
    },
  }),
  command("link <build>", {
    tool: "reads",
    summary: "Print the address of an image, which needs no key",
    details: "Everyone who knows the address can download the image. `kiln download` also verifies it.",
    examples: ['curl -fO "$(kiln link First:iso)"'],
    act: async ({ client, show }, { build: given }) => {
      const answer = await client.call("getBuild", { build_id: await buildId(client, given) });
      const url = linkOf(answer.build);
      show(answer, () => url);
    },
  }),
  command("manifest <appliance>", {
    tool: "reads",
    summary: "Print what the newest build of an appliance was made of, as XML",
    details:
      "It has the KIWI description, and what KIWI cannot describe. `kiln import` reads it. Password hashes are omitted.",
    options: {
      showSecrets: flag("include the hashes of passwords"),
      type: value("types", "of this image type; the default is the appliance's"),
      version: value("version", "of this version; the default is the newest"),
    },
    examples: ["kiln manifest First > first.xml && kiln import first.xml"],
    act: async ({ client, show }, { appliance, type, version, showSecrets }) => {
      const id = { appliance_id: await applianceId(client, appliance) };
      const image_type = type ?? (await client.call("getAppliance", id)).appliance.type;
      const answer = await client.call("getManifest", { ...id, image_type, version });
      const whole = await answer.text();
      const manifest = showSecrets ? whole : withoutHashes(whole);
      show({ manifest }, () => manifest.trimEnd());
    },
  }),
  command("verify <file>", {
    summary: "Verify a downloaded image without asking the service",
    details:
      "Compares the image and both bills of materials with the signed provenance, whose signature must be by a key that " +
      "you pinned with `kiln login`. A key that comes along with the file is not trusted. If the proof that the public log " +
      "has the image is next to it, that is verified, too, and so are statements about rebuilds. The exit code is 6 if anything does not match.",
    options: {
      key,
      logged: flag("fail unless there is a proof that the public log has the image"),
      ...quorumOptions,
      rebuilt: flag("fail unless another builder has built the same bytes"),
    },
    examples: ["kiln verify First.x86_64-0.0.1.oem.tar.gz"],
    act: async ({ show, paint }, { file, key: keyFile, logged, rebuilt, witnesses, quorum: count }) => {
      const pinned = storedLogins().flatMap(({ keys }) => keys);
      const quorum = quorumOf(witnesses, count);
      const found = await verifyImage(file, trustedKeys(keyFile, pinned));
      if ((logged || quorum) && !found.log) throw notLogged(file);
      const witnessed = found.log && quorum && { ...found.log, cosigned_by: cosignedBy(noteNextTo(file), quorum) };
      const verified = { ...found, ...(witnessed && { log: witnessed }) };
      if (rebuilt && !verified.rebuilds?.some(isConfirmed)) throw notRebuilt(file);
      show({ verified }, () => `${shown(paint, verified)}\n\n${file} is verified.`);
    },
  }),
];

const notLogged = (file: string): Complaint =>
  new Complaint(
    "unverified",
    `There is no proof that the public log has ${file}.`,
    "Only published images are in the log. `kiln download` fetches the proof with the image.",
  );

const isConfirmed = ({ result, by_other_agent: other }: Rebuild): boolean => result === "same" && other === true;

const notRebuilt = (file: string): Complaint =>
  new Complaint(
    "unverified",
    `There is no statement that another builder has built the same bytes as ${file}.`,
    "The owner of the appliance can ask for one: `kiln rebuild BUILD`. `kiln download` fetches it with the image.",
  );

function shown(paint: Painter, one: Verified): string {
  const [pinnedBy] = storedLogins().filter(({ keys }) => keys.some(({ kid }) => kid === one.key));
  return facts(paint, {
    Image: one.file,
    Appliance: `${one.appliance} ${one.version}, ${one.image_type} for ${one.arch}`,
    Built: `${moment(one.finished_at)}, build ${one.build_id} of ${one.builder}`,
    "Built in": builtIn(one),
    "Signed by": `${one.key}${pinnedBy ? `, pinned for ${pinnedBy.url}` : ""}`,
    "SHA-256": one.sha256,
    Rebuilt: rebuildsText(one.rebuilds),
    "Public log": one.log ? `entry ${one.log.position} of ${one.log.log}` : "no proof came with the image",
    ...(one.log?.cosigned_by && { "Cosigned by": one.log.cosigned_by.join(", ") }),
  });
}

const places = { vm: "a separate guest", none: "no guest, as root on the builder's host" };

function builtIn({ isolation, started_from: from }: Verified): string {
  if (!isolation) return "the provenance does not say";
  return `${places[isolation]}, from ${from === "nothing" ? from : `the ${from} of an earlier build`}`;
}

const downloadedText = (paint: Painter, { file, made, verified, use }: Downloaded): string =>
  [
    ...(verified
      ? [shown(paint, verified), ...(made ? [madeText(made)] : []), `${file} is verified.`]
      : [`${file} is complete. Its signature was not verified.`]),
    ...(use ? [visible(use.what), ...use.ways.map(wayText)] : []),
  ].join("\n\n");

const madeText = ({ from, downloaded_bytes: bytes }: NonNullable<Downloaded["made"]>): string =>
  `The disk was made from ${from} and ${bytes} downloaded bytes. It is unpacked: omit the commands with \`tar\`.`;

const wayText = ({ title, note, lines }: NonNullable<Downloaded["use"]>["ways"][number]): string =>
  [
    `${visible(title)}:`,
    ...(note === undefined ? [] : [`  ${visible(note)}`]),
    ...lines.map((line) => `    ${visible(line)}`),
  ].join("\n");
